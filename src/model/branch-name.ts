/** True for the short name of a branch as git allows it (`git check-ref-format --branch`), without `@{-1}` and the
 * like. A name that begins with `refs/` is refused: it is nearly always a full name by mistake. */
export function isBranchName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses control characters
  if (name === '' || name === '@' || name === 'HEAD' || /[\u0000-\u0020\u007f~^:?*[\\]/.test(name))
    return false;
  if (name.startsWith('-') || name.startsWith('refs/') || name.endsWith('.')) return false;
  if (name.includes('..') || name.includes('@{')) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}
