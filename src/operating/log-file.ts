// A file of lines, such as the log: written in the background, reopened after logrotate moved it or it was
// removed, with standard error as the fallback while the file takes no lines. In a folder that others can
// write to, such as /tmp, another user could place a file there to read the log, or a symlink to redirect it.

import { constants, lstatSync, type Stats, statSync, writeSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { DomainError } from '../domain/errors.ts'
import { reasonOf } from '../domain/system-errors.ts'
import { type OwnedPath, requireOwn } from '../store/folder/ownership.ts'

/** The most characters that wait for a slow or full disk. Further lines are dropped, which bounds memory. */
const MAX_WAITING = 4 * 1024 * 1024

/** A file of lines: its name in messages, and the flag that names its path. */
export type LogKind = { what: string; flag: string }

export const LOG: LogKind = { what: 'log file', flag: '--log-file' }
export const AUDIT_LOG: LogKind = { what: 'audit log', flag: '--audit-log' }

/** `rest`: the lines that are not in the file. */
class PartlyWritten extends Error {
  readonly rest: string

  constructor(cause: unknown, rest: string) {
    super('the file took only some lines', { cause })
    this.rest = rest
  }
}

type LogFileOptions = {
  path: string
  kind?: LogKind
  /**
   * Reports, outside the file, when it can no longer be written, when it can be again, and how many lines
   * are missing.
   */
  onError: (problem: string) => void
  /** Receives the lines that could not be written to the file, each with its newline. */
  fallBack: (lines: string) => void
}

/** Throws `conflict` when the file cannot be opened. */
export async function openLogFile({ path, kind = LOG, onError, fallBack }: LogFileOptions) {
  const { what } = kind
  let file = await openLog(path, kind)
  if (!(await isLineEnded(path))) await file.write('\n')
  let waiting = ''
  let lost = 0
  /** Lines since the start that could not be written. */
  let lostInAll = 0
  /** Why the file cannot be written, as a sentence; null while it can. */
  let failure: string | null = null
  let writing: Promise<void> | null = null

  /** Queues one line, without its newline. Never throws, and returns at once. */
  function write(line: string): void {
    if (waiting.length + line.length > MAX_WAITING) {
      lost += 1
      lostInAll += 1
    } else waiting += `${line}\n`
    // Start at the end of this turn of the event loop, so that one write contains the lines of many requests.
    writing = writing ?? new Promise<void>((resolve) => setImmediate(resolve)).then(writeAll)
  }

  async function writeAll(): Promise<void> {
    while (waiting !== '') {
      const lines = waiting
      waiting = ''
      await append(lines)
    }
    writing = null
  }

  async function append(lines: string): Promise<void> {
    try {
      // Reopen at once: lines written to an unlinked file would be lost.
      if ((await file.stat()).nlink === 0) await replace(await openLog(path, kind))
      await appendWhole(lines)
      if (lost > 0) onError(`${lost} lines are missing in the ${what} ${path}.`)
      if (failure !== null) onError(`The ${what} ${path} takes lines again.`)
      lost = 0
      failure = null
    } catch (cause) {
      const isTold = failure !== null
      const why =
        cause instanceof DomainError
          ? cause.message
          : cannotWrite(what, path, reasonOf(cause instanceof PartlyWritten ? cause.cause : cause))
      failure = `${why} Until then standard error has the lines.`
      if (!isTold) onError(failure)
      const refused = cause instanceof PartlyWritten ? cause.rest : lines
      lostInAll += refused.split('\n').length - 1
      fallBack(refused)
    }
  }

  /** Throws PartlyWritten if only the first lines could be written. */
  async function appendWhole(lines: string): Promise<void> {
    const { size } = await file.stat()
    const bytes = Buffer.from(lines)
    let written = 0
    try {
      while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten
    } catch (cause) {
      const whole = bytes.lastIndexOf(10, written - 1) + 1
      // Remove the partial line, or the next line would continue it; but keep it if a command has added a
      // line since.
      if (written > whole && (await file.stat()).size === size + written) await file.truncate(size + whole)
      throw new PartlyWritten(cause, written === 0 ? lines : bytes.toString('utf8', whole))
    }
  }

  /** Reopens the path. Throws `conflict` when that fails, and keeps writing to the old file. */
  async function reopen(): Promise<void> {
    const next = await openLog(path, kind)
    await writing
    await replace(next)
  }

  async function replace(next: FileHandle): Promise<void> {
    const before = file
    file = next
    await before.close()
  }

  /** Resolves to why new lines do not reach the path; null if they do. */
  async function findProblem(): Promise<string | null> {
    if (failure !== null) return failure
    const [own, there] = await Promise.all([file.stat(), stat(path).catch(() => null)])
    if (there?.ino === own.ino && there.dev === own.dev) return null
    return `The ${what} ${path} was moved or removed, and not opened again: send SIGHUP.`
  }

  /** Writes all waiting lines synchronously, for a process that ends without closing the log. */
  function flushNow(): void {
    if (waiting === '') return
    try {
      writeSync(file.fd, waiting)
      waiting = ''
    } catch {
      // Ignore the failure: the process is ending, and its last error is on standard error too.
    }
  }

  async function close(): Promise<void> {
    await writing
    await file.close()
  }

  return { write, reopen, findProblem, flushNow, countLost: () => lostInAll, close }
}

const MODE = 0o600

const ownedBy = ({ what, flag }: LogKind): OwnedPath => ({ what: `The ${what}`, flag })

/**
 * Throws `conflict` for a pipe, because opening it blocks until a reader appears, and for a file or symlink
 * of another user than root. Accepts any character device.
 */
export function requireLogPlace(path: string, kind = LOG): void {
  const { what, flag } = kind
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFIFO()) {
    const remedy = `remove it, or name another ${flag}.`
    throw new DomainError('conflict', `The ${what} ${path} is a pipe: ${remedy}`)
  }
  if (found?.isCharacterDevice()) return
  requireOwn(path, ownedBy(kind), { mayBeRoots: true })
}

/**
 * Opens the file to append to it, creating it if it is missing. Throws `conflict` when it cannot or must not.
 */
async function openLog(path: string, kind: LogKind): Promise<FileHandle> {
  const file = await openToAppend(path, kind)
  if (isTrusted(await file.stat())) return file
  await file.close()
  throw cannotOpen(kind, path, 'another user has just created it')
}

async function openToAppend(path: string, kind: LogKind): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW = 0 } = constants
  try {
    requireLogPlace(path, kind)
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
    // O_NOFOLLOW: another user could create a symlink between lstat and open.
    return await open(path, O_APPEND | O_CREAT | O_WRONLY | (isLink ? 0 : O_NOFOLLOW), MODE)
  } catch (cause) {
    throw cause instanceof DomainError ? cause : cannotOpen(kind, path, reasonOf(cause))
  }
}

/** Whether the file ends with a newline. After a power cut, half a line would swallow the next one. */
async function isLineEnded(path: string): Promise<boolean> {
  const { size } = await stat(path)
  if (size === 0) return true
  const file = await open(path, 'r').catch(() => null)
  const last = (await file?.read(Buffer.alloc(1), 0, 1, size - 1))?.buffer[0]
  await file?.close()
  return last === undefined || last === 10
}

/** Whether root or this process's user owns the opened file. True for a device, and on Windows. */
function isTrusted(opened: Stats): boolean {
  const me = process.geteuid?.()
  return me === undefined || opened.isCharacterDevice() || [me, 0].includes(opened.uid)
}

const cannotWrite = (what: string, path: string, reason: string) =>
  `The ${what} ${path} cannot be written: ${reason}. Make room, or repair its disk.`

function cannotOpen({ what, flag }: LogKind, path: string, reason: string): DomainError {
  const remedy = `Make its folder, or let the user of this process write there; or name another ${flag}.`
  return new DomainError('conflict', `Cannot open the ${what} ${path}: ${reason}. ${remedy}`)
}
