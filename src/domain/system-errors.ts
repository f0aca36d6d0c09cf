// What the operating system refused, in words: its codes say little to the person at the terminal.

const WORDS: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'you are not permitted to',
  EPERM: 'you are not permitted to',
  EROFS: 'the disk can only be read',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
  EFBIG: 'the disk takes no file of that size',
  EIO: 'the disk failed',
  ELOOP: 'it is a link that leads to itself, or one that is not followed',
  ENAMETOOLONG: 'its name is too long',
  EEXIST: 'it is there already',
  ENOTEMPTY: 'the folder is not empty',
  EBUSY: 'something else uses it',
  ETXTBSY: 'something else uses it',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EXDEV: 'it is on another disk',
  EINVAL: 'it cannot be used like that',
}

/** Null when the operating system has nothing to do with it, or says something without words here. */
export function explainSystemError(cause: unknown): string | null {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return Object.hasOwn(WORDS, code) ? (WORDS[code] ?? null) : null
}

/** A sentence with the path at fault, when the operating system named one. */
export function presentSystemError(cause: Error): string {
  const words = explainSystemError(cause)
  if (words === null) return cause.message
  const path = 'path' in cause && typeof cause.path === 'string' ? cause.path : null
  return path === null ? `The system refused: ${words}.` : `${JSON.stringify(path)} cannot be used: ${words}.`
}
