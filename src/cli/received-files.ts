// The files of a push on their way into a folder: never over what is there, and resumed when they broke off.

import { existsSync, mkdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { RemoteFile } from '../client/answers.ts'
import { downloadPart, placePart } from '../client/download.ts'
import { ClientFailure } from '../client/failure.ts'
import { createUnfinishedNotes, type Unfinished } from '../client/unfinished.ts'
import { cleanFilename } from '../domain/files.ts'
import { formatSize, printableLine } from './format.ts'
import type { Shell } from './shell.ts'

export type ReceivedFilesOptions = {
  /** A folder, a name for a single file, or null for the current folder. */
  output: string | null
  /** Tells one push from another. */
  link: string
  shell: Shell
  userAgent: string
}

const CANCELLED = 'cancelled; the same command goes on from here while the server allows it'

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

export function createReceivedFiles({ output, link, shell, userAgent }: ReceivedFilesOptions) {
  // Parts and note lie on the disk where the files are to be.
  const workFolder = output === null ? '.' : isFolder(output) ? output : dirname(output)
  const notes = createUnfinishedNotes({ folder: workFolder, link })

  async function receive(files: readonly RemoteFile[]): Promise<void> {
    const unfinished = {
      several: files.length > 1,
      files: files.map((file, index) => ({ ...file, part: notes.partName(index) })),
    }
    await notes.write(unfinished)
    await download(unfinished)
  }

  /** Goes on with what broke off before; false when there is nothing, or it is not handed out any more. */
  async function goOn(): Promise<boolean> {
    const unfinished = await notes.find()
    if (unfinished === null) return false
    shell.say('Going on with the download that broke off; this counts no view.')
    try {
      await download(unfinished)
      return true
    } catch (cause) {
      if (!(cause instanceof ClientFailure && cause.kind === 'gone')) throw cause
      shell.say(`${printableLine(cause.message)} The push is asked for again.`)
      await notes.remove(unfinished)
      return false
    }
  }

  /** One after another; the note always tells what is left. */
  async function download({ several, files }: Unfinished): Promise<void> {
    for (const [index, file] of files.entries()) {
      await downloadOne(file, several)
      await notes.write({ several, files: files.slice(index + 1) })
    }
    await notes.remove()
  }

  async function downloadOne({ filename, url, size, part }: Unfinished['files'][number], several: boolean) {
    const path = placeOf(cleanFilename(filename), several)
    const progress = shell.startProgress(printableLine(basename(path)), CANCELLED)
    const partPath = join(workFolder, part)
    const onRetry = (problem: string) => shell.say(`${printableLine(problem)} Trying again.`)
    const options = { userAgent, onProgress: progress.update, onRetry }
    await downloadPart({ url, size, part: partPath }, options).finally(progress.stop)
    mkdirSync(dirname(path), { recursive: true })
    const placed = await placePart(partPath, path)
    shell.say(`Saved as ${printableLine(placed)} (${formatSize(statSync(placed).size)}).`)
  }

  /** As with `cp`: a single file may get the name that was given, several go into a folder of that name. */
  function placeOf(filename: string, several: boolean): string {
    if (output === null) return filename
    const isName = !several && !isFolder(output) && !/[/\\]$/.test(output)
    return isName ? output : join(output, filename)
  }

  return { receive, goOn }
}
