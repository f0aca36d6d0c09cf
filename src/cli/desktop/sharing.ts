// The clipboard for `oncebox push`: the secret comes from it, and the link goes to it.

import { CommandFailure } from '../failures.ts'
import type { Shell } from '../shell.ts'
import { copyByTerminal, missingClipboard, openClipboard } from './clipboard.ts'

/** Throws CommandFailure if there is no clipboard. A link alone may go through the terminal (OSC 52). */
export function openSharing({ paste }: { paste: boolean }, shell: Shell) {
  const isMissing = missingClipboard(shell.os) !== null
  if (isMissing && !paste && shell.isTerminal)
    return {
      copy: async (link: string): Promise<void> => {
        copyByTerminal(link)
        shell.say('The terminal was asked to put the link on the clipboard; not every terminal does.')
      },
      paste: refuse,
      empty: refuse,
    }
  const { copy, paste: read, clearIf } = openClipboard(shell)
  return {
    copy,
    paste: async (): Promise<string> => {
      const text = await read()
      if (text.trim() === '')
        throw new CommandFailure('There is nothing to push: the clipboard holds no text.')
      return text
    },
    empty: clearIf,
  }
}

async function refuse(): Promise<never> {
  throw new CommandFailure('The terminal cannot tell what is on the clipboard.')
}
