// SPDX-License-Identifier: Apache-2.0
// Plugins that must be refused: compiled with another version, and without the function that registers.

extern "C" const char* amct_plugin_abi() { return "amct 99.0.0"; }

#if defined(AMCT_FAULTY_PLUGIN_REGISTERS)
extern "C" void amct_register(void*) { __builtin_trap(); }  // must not be called
#endif
