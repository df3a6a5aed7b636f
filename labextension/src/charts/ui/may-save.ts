/** Whether the page may save files: a sandboxed frame may not, and says nothing when it tries. */
export function maySaveFiles(): boolean {
  return window.self === window.top || window.origin !== 'null';
}
