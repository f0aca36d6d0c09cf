// Messages for the error codes of the operating system, for people at a terminal.

const WORDS: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your disk quota is used up',
  EFBIG: 'the file is too large for this disk',
  EIO: 'the disk reported an error',
  ELOOP: 'it is a symbolic link that loops or may not be followed',
  ENAMETOOLONG: 'its name is too long',
  EEXIST: 'it already exists',
  ENOTEMPTY: 'the folder is not empty',
  EBUSY: 'it is in use',
  ETXTBSY: 'it is in use',
  EMFILE: 'too many files are open; LimitNOFILE of the service or "ulimit -n" raises the limit',
  ENFILE: 'too many files are open on this machine; "sysctl fs.file-max" raises the limit',
  ENOMEM: 'the machine has no memory left',
  EXDEV: 'it is on another disk',
  EPIPE: 'nobody reads its output any more, so what came out is not whole',
  EINVAL: 'the operation is not possible on it',
}

/**
 * Returns the code of an error from the operating system, SQLite or Bun, such as ENOENT; '' for an error
 * without one.
 */
export function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

/** Whether the process or its machine has run out of open files or memory, which is often temporary. */
export function isExhaustion(cause: unknown): boolean {
  return ['EMFILE', 'ENFILE', 'ENOMEM'].includes(codeOf(cause))
}

/** Returns the message for a known system error; null for all other errors. */
export function explainSystemError(cause: unknown): string | null {
  const code = codeOf(cause)
  return Object.hasOwn(WORDS, code) ? (WORDS[code] ?? null) : null
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** Returns why something failed, to follow a colon: the message of a system error, or that of the cause. */
export function reasonOf(cause: unknown): string {
  return explainSystemError(cause) ?? messageOf(cause)
}

/** Returns why the system refused an operation. Does not quote errors that are not the system's. */
export function refusalOf(cause: unknown): string {
  return explainSystemError(cause) ?? 'the system refused'
}

/** Returns a sentence that names the path, if the system error has one. */
export function presentSystemError(cause: Error): string {
  const words = explainSystemError(cause)
  if (words === null) return cause.message
  const path = 'path' in cause && typeof cause.path === 'string' ? cause.path : null
  return path === null ? `The system refused: ${words}.` : `${JSON.stringify(path)} cannot be used: ${words}.`
}
