// Receives the files of a push into a folder: uses safe names, overwrites nothing, and resumes interrupted downloads.

import { mkdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { RemoteFile } from '../client/answers.ts'
import type { Client } from '../client/client.ts'
import { placePart } from '../client/download.ts'
import { ClientFailure, UntrueAnswer } from '../client/failure.ts'
import { createUnfinishedNotes, type Unfinished, type UnfinishedFile } from '../client/unfinished.ts'
import { printableLine } from '../domain/printable.ts'
import { safeFilename, safeFilenames } from '../domain/received-names.ts'
import { formatSize, quote } from './format.ts'
import { isNamedAsFolder } from './paths.ts'
import type { Shell } from './shell.ts'

type ReceivedFilesOptions = {
  /** A folder, a name for a single file, or null for the current folder. */
  output: string | null
  /** Identifies the push. */
  link: string
  shell: Shell
  downloadPart: Client['downloadPart']
}

const CANCELLED = 'cancelled; the same command resumes from here while the server allows it'

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

  /** Resumes an interrupted download. False when there is none or the server no longer allows it. */
  async function goOn(): Promise<boolean> {
    const folder = workFolder(false)
    const notes = createUnfinishedNotes({ folder, link })
    const unfinished = await notes.find()
    if (unfinished === null) return false
    shell.say('Resuming the interrupted download. This uses up no view.')
    try {
      await download(unfinished, folder)
      return true
    } catch (cause) {
      if (!(cause instanceof ClientFailure && cause.kind === 'gone')) throw cause
      shell.say(`${printableLine(cause.message)} Opening the push again.`)
      await notes.remove(unfinished)
      return false
    }
  }

  /** The folder for partial files and the note, on the same disk as the files. Several files get a folder of their own. */
  function workFolder(several: boolean): string {
    if (output === null) return '.'
    return several || isNamedAsFolder(output) ? output : dirname(output)
  }

  /** Downloads the files one after another, and keeps the note up to date. */
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

  /** As with `cp`: `output` names a single file, or the folder for several. */
  function nameGiven(several: boolean): string | null {
    return output === null || several || isNamedAsFolder(output) ? null : output
  }

  return { receive, goOn }
}
