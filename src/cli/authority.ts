// Shows the fingerprint of a server's own authority, and asks the user whether it is the right one.

import { type ClaimedAuthority, normalFingerprint } from '../client/authority.ts'
import type { Parsed } from '../settings/parsers.ts'
import { isAgreed } from './ask.ts'
import { valued } from './command.ts'
import { CommandFailure } from './failures.ts'
import type { Shell } from './shell.ts'

/** Defines the flag that gives the fingerprint instead of asking. */
export function fingerprintFlag(name: string) {
  return valued(`${name} <sha256>`, (text): Parsed<string> => {
    const value = normalFingerprint(text)
    return value === null
      ? { problem: 'must be a SHA-256 fingerprint of 64 hexadecimal digits, such as AB:CD:…' }
      : { value }
  })
}

type FingerprintCheck = {
  server: string
  /** The fingerprint from a flag; null to ask. */
  fingerprint: string | null
  flag: string
  warning?: string
}

/**
 * Throws CommandFailure unless the fingerprint matches the flag, or the user confirms it.
 */
export async function compareAuthority(
  { fingerprint: claimed }: ClaimedAuthority,
  { server, fingerprint, flag, warning = '' }: FingerprintCheck,
  shell: Shell,
): Promise<void> {
  if (fingerprint === normalFingerprint(claimed)) return
  if (fingerprint !== null)
    throw new CommandFailure(
      `The authority of ${server} has another fingerprint (${claimed}) than the one given: the connection may be ` +
        'intercepted. Nothing was sent or trusted.',
    )
  if (!shell.isTerminal)
    throw new CommandFailure(
      `This computer does not know the authority of ${server}, and there is no terminal to ask: give its fingerprint, as the ` +
        `administrator sees it, with --${flag}.`,
    )
  shell.say(
    `${server} has an authority of its own, which this computer does not know.${warning} Its fingerprint:`,
    `  ${claimed}`,
  )
  if (!(await isAgreed(shell, 'Does the administrator see the same one?')))
    throw new CommandFailure('Nothing was sent or trusted.')
}
