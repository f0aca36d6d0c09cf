// Receives the files of a push into a folder: uses safe names, overwrites nothing, and resumes interrupted
// downloads.

import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { DecryptedFile, FilePosition } from '../age/sealing.ts'
import { parseFiles, type RemoteFile } from '../client/answers.ts'
import type { PushClient } from '../client/client.ts'
import { ClientFailure, UntrueAnswer } from '../client/failure.ts'
import { createOwnFile, openOwnFile, placePart } from '../client/own-files.ts'
import { isSealedName } from '../domain/age-recipient.ts'
import { printableLine } from '../text/printable.ts'
import { safeFilename, safeFilenames } from '../text/safe-filename.ts'
import { type AgeKeys, requireAll, requirePosition } from './age-keys.ts'
import { formatSize, quote } from './format.ts'
import { isNamedAsFolder, STANDARD } from './paths.ts'
import type { Shell } from './shell.ts'

type ReceivedFilesOptions = {
  /** A folder, a name for a single file, `-` for standard output, or null for the current folder. */
  output: string | null
  /** Identifies the push. */
  link: string
  shell: Shell
  downloadPart: PushClient['downloadPart']
  /** Decrypts the files; a file that no key decrypts is not saved. Null saves files as received. */
  keys: AgeKeys | null
}

/** A download that was interrupted after the first `done` files. */
type Unfinished = { files: readonly RemoteFile[]; done: number }

const CANCELLED = 'cancelled; the same command resumes from here while the server allows it'

export type ReceivedFiles = ReturnType<typeof createReceivedFiles>

export function createReceivedFiles({ output: asked, ...options }: ReceivedFilesOptions) {
  const { link, shell, downloadPart, keys } = options
  const isPoured = asked === STANDARD
  const output = isPoured ? null : asked
  // The names of hidden files must not reveal the link.
  const id = createHash('sha256').update(link).digest('hex').slice(0, 16)
  const noteIn = (folder: string) => join(folder, `.oncebox-${id}.json`)
  const partIn = (folder: string, index: number) => join(folder, `.oncebox-${id}-${index}.part`)

  /** The positions that the decrypted files had in the sender's sequence. */
  const positions: (FilePosition | null)[] = []

  async function receive(files: readonly RemoteFile[]): Promise<void> {
    const [first, ...others] = files
    if (isPoured && first !== undefined && others.length === 0) return pour(first)
    if (isPoured) shell.say('Standard output takes one file, and these are several: they are saved here.')
    return download({ files, done: 0 }, folderFor(files.length > 1))
  }

  /**
   * Resumes an interrupted download. Resolves to false if there is none, or if the server no longer allows
   * it.
   */
  async function resume(): Promise<boolean> {
    if (isPoured) return false
    const folder = folderFor(false)
    const unfinished = await readNote(noteIn(folder))
    if (unfinished === null) return false
    shell.say('Resuming the interrupted download. This uses up no view.')
    try {
      await download(unfinished, folder)
      return true
    } catch (cause) {
      if (!(cause instanceof ClientFailure && cause.kind === 'gone')) throw cause
      shell.say(`${printableLine(cause.message)} Opening the push again.`)
      await forget(unfinished, folder)
      return false
    }
  }

  /**
   * Returns one folder for the files, partial files and the note, so that all are on one disk. Several files
   * get their own folder.
   */
  function folderFor(several: boolean): string {
    if (output === null) return '.'
    return several || isNamedAsFolder(output) ? output : dirname(output)
  }

  /** Downloads the files one after another. Records its progress in the note before each file. */
  async function download({ files, done }: Unfinished, folder: string): Promise<void> {
    mkdirSync(folder, { recursive: true })
    const sent = files.map(({ filename }) => filename)
    const names = safeFilenames(sent, { platform: shell.os.platform })
    // Like `cp`: `output` names a single file, or the folder for several files.
    const given = output === null || files.length > 1 || isNamedAsFolder(output) ? null : output
    try {
      for (const [index, file] of files.entries()) {
        if (index < done) continue
        await writeNote(noteIn(folder), { files, done: index })
        const path = given ?? join(folder, names[index] ?? '')
        const target = { path, part: partIn(folder, index), isNamed: given !== null, n: index + 1 }
        await fetch(file, target)
        await place(file.filename, target)
      }
    } catch (cause) {
      if (cause instanceof UntrueAnswer || isUnopened(cause)) await forget({ files, done }, folder)
      throw cause
    }
    await rm(noteIn(folder), { force: true })
    requireAll(positions, files.length)
  }

  /** `n` counts the files from 1. */
  type Target = { path: string; part: string; isNamed: boolean; n: number }

  async function fetch({ url, size }: RemoteFile, { path, part }: Pick<Target, 'path' | 'part'>) {
    const progress = shell.startProgress(printableLine(basename(path)), () => CANCELLED)
    const onRetry = (problem: string) => shell.say(`${printableLine(problem)} Trying again.`)
    await downloadPart({ url, size, part }, { onProgress: progress.update, onRetry }).finally(progress.stop)
  }

  /** Renames a complete partial file to its final name; decrypts it first if there are keys. */
  async function place(filename: string, target: Target): Promise<void> {
    const { path, part, isNamed } = target
    const opened = keys === null ? null : await open(keys, filename, target)
    const inner = opened?.name ?? null
    const wanted = inner === null || isNamed ? path : join(dirname(path), safeNameOf(inner))
    const placed = await placePart(opened === null ? part : `${part}.open`, wanted)
    const saved = describeSaved(placed)
    if (opened !== null) await rm(part, { force: true })
    const isRenamed = !isNamed && basename(placed) !== (inner ?? filename).normalize('NFC')
    shell.say(isRenamed ? `${saved} The sender named it ${quote(inner ?? filename)}.` : saved)
  }

  /** Opens the `n`th file. Removes what it has written if that fails, or if the server has swapped files. */
  async function open({ openFile }: AgeKeys, name: string, { part, n }: Target): Promise<DecryptedFile> {
    const to = `${part}.open`
    try {
      const opened = await openFile({ name, from: part, to })
      notePosition(opened, name, n)
      return opened
    } catch (cause) {
      await rm(to, { force: true })
      throw cause
    }
  }

  function notePosition(opened: DecryptedFile, name: string, n: number): void {
    requirePosition(opened, name, n)
    const { position } = opened
    if (position === null && isSealedName(name))
      shell.say(`${printableLine(name)} does not tell how many files its sender has sent.`)
    positions.push(position)
  }

  /** Writes the only file to standard output, piece by piece. */
  async function pour(file: RemoteFile): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'oncebox-'))
    const part = join(folder, 'download.part')
    try {
      await fetch(file, { path: file.filename, part })
      if (keys === null) for await (const bytes of Bun.file(part).stream()) await shell.writeBytes(bytes)
      else
        notePosition(await keys.pourFile(file.filename, Bun.file(part), shell.writeBytes), file.filename, 1)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
    requireAll(positions, 1)
  }

  /** Opens files that were saved encrypted. */
  async function openSaved(paths: readonly string[], { openFile, pourFile }: AgeKeys): Promise<void> {
    const [first = '', ...others] = paths
    if (isPoured && others.length === 0) {
      await pourFile(basename(first), Bun.file(first), shell.writeBytes)
      return
    }
    const folder = folderFor(others.length > 0)
    const isNamed = output !== null && others.length === 0 && !isNamedAsFolder(output)
    mkdirSync(folder, { recursive: true })
    for (const [index, from] of paths.entries()) {
      const to = `${partIn(folder, index)}.open`
      try {
        const { name } = await openFile({ name: basename(from), from, to })
        const placed = await placePart(to, isNamed ? output : join(folder, safeNameOf(name)))
        shell.say(describeSaved(placed))
      } finally {
        await rm(to, { force: true })
      }
    }
  }

  const safeNameOf = (sent: string) => safeFilename(sent, { platform: shell.os.platform })

  async function forget({ files }: Unfinished, folder: string): Promise<void> {
    for (const index of files.keys()) await rm(partIn(folder, index), { force: true })
    await rm(noteIn(folder), { force: true })
  }

  return { receive, resume, openSaved }
}

const describeSaved = (path: string) =>
  `Saved as ${printableLine(path)} (${formatSize(statSync(path).size)}).`

function isUnopened(cause: unknown): boolean {
  return cause instanceof ClientFailure && cause.kind === 'unopened'
}

async function writeNote(path: string, unfinished: Unfinished): Promise<void> {
  const fresh = await createOwnFile(`${path}.new`)
  await fresh.writeFile(JSON.stringify(unfinished)).finally(() => fresh.close())
  await rename(`${path}.new`, path)
}

/** Resolves to null when there is no note that this program wrote. */
async function readNote(path: string): Promise<Unfinished | null> {
  await using note = await openOwnFile(path)
  try {
    const { files, done } = JSON.parse((await note?.readFile('utf8')) ?? '{}')
    return Number.isSafeInteger(done) ? { files: parseFiles(files), done } : null
  } catch {
    return null
  }
}
