/** What the kernel's widgets name as their module. */
export const MODULE_NAME = 'taskscope';
export const MODULE_VERSION = '0.1.0';
