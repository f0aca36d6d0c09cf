// The files of a push on their way into a folder: harmless names, never over what is there, resumed when they broke off.

import { existsSync, mkdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { RemoteFile } from '../client/answers.ts'
import type { Client } from '../client/client.ts'
import { placePart } from '../client/download.ts'
import { ClientFailure, UntrueAnswer } from '../client/failure.ts'
import { createUnfinishedNotes, type Unfinished, type UnfinishedFile } from '../client/unfinished.ts'
import { safeFilename, safeFilenames } from '../domain/received-names.ts'
import { formatSize, printableLine, quote } from './format.ts'
import type { Shell } from './shell.ts'

export type ReceivedFilesOptions = {
  /** A folder, a name for a single file, or null for the current folder. */
  output: string | null
  /** Tells one push from another. */
  link: string
  shell: Shell
  downloadPart: Client['downloadPart']
}

const CANCELLED = 'cancelled; the same command goes on from here while the server allows it'

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

/** Whether a path names a folder, also one that is to be made. */
export function isNamedAsFolder(path: string): boolean {
  return isFolder(path) || /[/\\]$/.test(path)
}

export function createReceivedFiles({ output, link, shell, downloadPart }: ReceivedFilesOptions) {
  const { platform } = shell.place

  async function receive(sent: readonly RemoteFile[]): Promise<void> {
    const several = sent.length > 1
    const folder = workFolder(several)
    mkdirSync(folder, { recursive: true })
    const notes = createUnfinishedNotes({ folder, link })
    const names = safeFilenames(
      sent.map(({ filename }) => filename),
      { platform },
    )
    const files = sent.map(({ url, size, filename: sentAs }, index) => {
      return { filename: names[index] ?? '', sentAs, url, size, part: notes.partName(index) }
    })
    await notes.write({ several, files })
    await download({ several, files }, folder)
  }

  /** Goes on with what broke off before; false when there is nothing, or it is not handed out any more. */
  async function goOn(): Promise<boolean> {
    const folder = workFolder(false)
    const notes = createUnfinishedNotes({ folder, link })
    const unfinished = await notes.find()
    if (unfinished === null) return false
    shell.say('Going on with the download that broke off; this counts no view.')
    try {
      await download(unfinished, folder)
      return true
    } catch (cause) {
      if (!(cause instanceof ClientFailure && cause.kind === 'gone')) throw cause
      shell.say(`${printableLine(cause.message)} The push is asked for again.`)
      await notes.remove(unfinished)
      return false
    }
  }

  /** Parts and note lie on the disk where the files are to be. Several files get a folder, which exists from then on. */
  function workFolder(several: boolean): string {
    if (output === null) return '.'
    return several || isNamedAsFolder(output) ? output : dirname(output)
  }

  /** One after another; the note always tells what is left. */
  async function download(unfinished: Unfinished, folder: string): Promise<void> {
    const { several, files } = unfinished
    const notes = createUnfinishedNotes({ folder, link })
    try {
      for (const [index, file] of files.entries()) {
        await downloadOne(file, { folder, several })
        await notes.write({ several, files: files.slice(index + 1) })
      }
    } catch (cause) {
      if (cause instanceof UntrueAnswer) await notes.remove(unfinished)
      throw cause
    }
    await notes.remove()
  }

  async function downloadOne(
    file: UnfinishedFile,
    { folder, several }: { folder: string; several: boolean },
  ) {
    const { url, size, sentAs } = file
    const named = nameGiven(several)
    const path = named ?? join(folder, safeFilename(file.filename, { platform }))
    const progress = shell.startProgress(printableLine(basename(path)), () => CANCELLED)
    const part = join(folder, file.part)
    const onRetry = (problem: string) => shell.say(`${printableLine(problem)} Trying again.`)
    const options = { onProgress: progress.update, onRetry }
    await downloadPart({ url, size, part }, options).finally(progress.stop)
    const placed = await placePart(part, path)
    const saved = `Saved as ${printableLine(placed)} (${formatSize(statSync(placed).size)}).`
    const isRenamed = named === null && basename(placed) !== sentAs.normalize('NFC')
    shell.say(isRenamed ? `${saved} The sender named it ${quote(sentAs)}.` : saved)
  }

  /** As with `cp`: a single file may get the name that was given, several go into a folder of that name. */
  function nameGiven(several: boolean): string | null {
    return output === null || several || isNamedAsFolder(output) ? null : output
  }

  return { receive, goOn }
}
