// Shows, saves or copies a received text. The view is used up, so no failure may lose the text.

import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { reasonOf } from '../domain/system-errors.ts'
import { DIRECTION_MARK, printable, printableLine } from '../text/printable.ts'
import type { Clipboard } from './desktop/clipboard.ts'
import { CommandFailure } from './failures.ts'
import { formatSize } from './format.ts'
import { isNamedAsFolder } from './paths.ts'
import { drawQr } from './qr.ts'
import type { Shell } from './shell.ts'
import { writeWholeFile } from './whole-file.ts'

/** Draws a QR code. Does not fail if the text is too long, because the view is already used up. */
export function drawText(text: string, shell: Shell): void {
  try {
    shell.draw(drawQr(text))
  } catch {
    shell.say('The text is too long for a QR code.')
  }
}

/** The file name of a text in a folder. The sender's name for the push is private. */
const TEXT_NAME = 'push.txt'

/**
 * Resolves to false if writing fails. The caller then prints the text, because the view is already used up.
 */
export async function saveText(text: string, output: string, shell: Shell): Promise<boolean> {
  const isFolder = isNamedAsFolder(output)
  const path = isFolder ? join(output, TEXT_NAME) : output
  try {
    mkdirSync(dirname(path), { recursive: true })
    const saved = await writeWholeFile(path, { mayNumber: isFolder, fill: (write) => write(text) })
    shell.say(`Saved as ${printableLine(saved)} (${formatSize(Buffer.byteLength(text))}).`)
    return true
  } catch (cause) {
    const why =
      cause instanceof CommandFailure ? cause.message : `${JSON.stringify(output)}: ${reasonOf(cause)}.`
    shell.say(`oncebox: ${why} Here is the text instead.`)
    return false
  }
}

/** Prints the text unchanged, except for characters that a terminal would interpret. */
export function printText(text: string, shell: Shell): void {
  if (!shell.isOutputTerminal) return void shell.printExactly(text)
  const shown = printable(text)
  shell.printExactly(shown.endsWith('\n') ? shown : `${shown}\n`)
  if (DIRECTION_MARK.test(text))
    shell.say(
      'This text contains marks that change the direction of reading (here shown as �): elsewhere it may look different.',
    )
  if (shown !== text)
    shell.say('Control characters are shown as signs; redirect to a file ("> FILE") to keep them.')
}

const CLIPBOARD_SECONDS = 45

/**
 * Puts the text on the clipboard for a while. Prints it if that fails, because the view is already used up.
 */
export async function copyText(text: string, clipboard: Clipboard, shell: Shell): Promise<void> {
  try {
    await clipboard.copy(text, { isConcealed: true })
  } catch (cause) {
    shell.say(`oncebox: ${reasonOf(cause)} Here is the text instead.`)
    return printText(text, shell)
  }
  shell.say(`The text is on the clipboard for ${CLIPBOARD_SECONDS} seconds. Ctrl-C removes it now.`)
  await shell.pause(CLIPBOARD_SECONDS)
  await clipboard.clearIf(text)
}
