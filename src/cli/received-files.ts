// Receives the files of a push into a folder: uses safe names, overwrites nothing, and resumes interrupted
// downloads.

import { createHash } from 'node:crypto'
import { mkdirSync, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { parseFiles, type RemoteFile } from '../client/answers.ts'
import type { PushClient } from '../client/client.ts'
import { ClientFailure, UntrueAnswer } from '../client/failure.ts'
import { createOwnFile, openOwnFile, placePart } from '../client/own-files.ts'
import { isSealedName } from '../domain/age-recipient.ts'
import { printableLine } from '../text/printable.ts'
import { safeFilename, safeFilenames } from '../text/safe-filename.ts'
import type { AgeKeys } from './age-keys.ts'
import { formatSize, quote } from './format.ts'
import { isNamedAsFolder } from './paths.ts'
import type { Shell } from './shell.ts'

type ReceivedFilesOptions = {
  /** A folder, a name for a single file, or null for the current folder. */
  output: string | null
  /** Identifies the push. */
  link: string
  shell: Shell
  downloadPart: PushClient['downloadPart']
  /** Decrypt the files that are encrypted for them; other files are saved as received. */
  keys: AgeKeys | null
}

/** A download that was interrupted after the first `done` files. */
type Unfinished = { files: readonly RemoteFile[]; done: number }

const CANCELLED = 'cancelled; the same command resumes from here while the server allows it'

export function createReceivedFiles({ output, link, shell, downloadPart, keys }: ReceivedFilesOptions) {
  // The names of hidden files must not reveal the link.
  const id = createHash('sha256').update(link).digest('hex').slice(0, 16)
  const noteIn = (folder: string) => join(folder, `.oncebox-${id}.json`)
  const partIn = (folder: string, index: number) => join(folder, `.oncebox-${id}-${index}.part`)

  function receive(files: readonly RemoteFile[]): Promise<void> {
    return download({ files, done: 0 }, folderFor(files.length > 1))
  }

  /** Resumes an interrupted download. False when there is none or the server no longer allows it. */
  async function resume(): Promise<boolean> {
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
   * Returns the folder for files, partial files and the note, all on one disk. Several files get a folder of
   * their own.
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
    // As with `cp`: `output` names a single file, or the folder for several.
    const given = output === null || files.length > 1 || isNamedAsFolder(output) ? null : output
    try {
      for (const [index, file] of files.entries()) {
        if (index < done) continue
        await writeNote(noteIn(folder), { files, done: index })
        const path = given ?? join(folder, names[index] ?? '')
        await downloadOne(file, { path, part: partIn(folder, index), isNamed: given !== null })
      }
    } catch (cause) {
      if (cause instanceof UntrueAnswer) await forget({ files, done }, folder)
      throw cause
    }
    await rm(noteIn(folder), { force: true })
  }

  type Target = { path: string; part: string; isNamed: boolean }

  async function downloadOne({ url, size, filename }: RemoteFile, { path, part, isNamed }: Target) {
    const progress = shell.startProgress(printableLine(basename(path)), () => CANCELLED)
    const onRetry = (problem: string) => shell.say(`${printableLine(problem)} Trying again.`)
    const options = { onProgress: progress.update, onRetry }
    await downloadPart({ url, size, part }, options).finally(progress.stop)
    const inner = await openSealed(part, filename)
    const placed = await placePart(
      part,
      inner === null || isNamed ? path : join(dirname(path), safeNameOf(inner)),
    )
    const saved = `Saved as ${printableLine(placed)} (${formatSize(statSync(placed).size)}).`
    const isRenamed = !isNamed && basename(placed) !== (inner ?? filename).normalize('NFC')
    shell.say(isRenamed ? `${saved} The sender named it ${quote(inner ?? filename)}.` : saved)
  }

  /**
   * Replaces an encrypted file by its content. Resolves to the name inside, or to null for a file that is not
   * encrypted or cannot be decrypted.
   */
  async function openSealed(part: string, filename: string): Promise<string | null> {
    if (keys === null || !isSealedName(filename)) return null
    const opened = `${part}.open`
    const name = await keys.openFile({ name: filename, from: part, to: opened })
    if (name === null) await rm(opened, { force: true })
    else await rename(opened, part)
    return name
  }

  const safeNameOf = (sent: string) => safeFilename(sent, { platform: shell.os.platform })

  async function forget({ files }: Unfinished, folder: string): Promise<void> {
    for (const index of files.keys()) await rm(partIn(folder, index), { force: true })
    await rm(noteIn(folder), { force: true })
  }

  return { receive, resume }
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
