// Asks a person whether a server's own authority is the right one, by its fingerprint.

import { type ClaimedAuthority, fetchAuthority, normalFingerprint } from '../client/authority.ts'
import { UnknownAuthority } from '../client/failure.ts'
import type { App } from './app.ts'
import { CommandFailure } from './failures.ts'
import type { Profile } from './profiles.ts'
import type { Shell } from './shell.ts'
import { hasProxy } from './visit.ts'

type Parts = { shell: Shell; app: Pick<App, 'openClient'> }

type Agreed = {
  server: string
  caCerts: string | null
  /** The login that would be replaced. */
  known: Profile | null
  /** The fingerprint from a flag; null to ask a person. */
  fingerprint: string | null
}

/** The authority to pin, in PEM; null when this computer trusts the server already, or it speaks plain http. */
export async function agreeOnAuthority(agreed: Agreed, parts: Parts): Promise<string | null> {
  const { shell } = parts
  const { server, known, fingerprint } = agreed
  if (!server.startsWith('https:')) return null
  const distrust = fingerprint === null ? await findDistrust(agreed, parts) : null
  if (fingerprint === null && distrust === null) return null
  const claimed = await fetchAuthority(server)
  if (claimed === null) {
    throw (
      distrust ??
      new CommandFailure(`${server} has no authority of its own to compare with --ca-fingerprint.`)
    )
  }
  const isOther = known?.server === server && known.authority && known.authority !== claimed.certificate
  const warning = isOther ? ' It is ANOTHER ONE than at your last login.' : ''
  await compare(claimed, { server, fingerprint, flag: '--ca-fingerprint', warning, shell })
  return claimed.certificate
}

/** Why this computer does not trust the server; null when it does. Only asks for the version, without a token. */
async function findDistrust(
  { server, caCerts }: Agreed,
  { shell, app }: Parts,
): Promise<UnknownAuthority | null> {
  try {
    const client = await app.openClient({
      ...{ server, apiToken: null, caCerts, authority: null, hasProxy: hasProxy(shell.place.env) },
      onWait: () => undefined,
    })
    await client.version()
    return null
  } catch (cause) {
    // Offers the server's authority only if the person has not named certificates.
    if (cause instanceof UnknownAuthority && caCerts === null) return cause
    throw cause
  }
}

type Comparing = {
  server: string
  fingerprint: string | null
  /** The flag that gives the fingerprint. */
  flag: string
  warning?: string
  shell: Shell
}

/** Throws CommandFailure unless the fingerprint is the given one, or a person says that it is the right one. */
export async function compare(claimed: ClaimedAuthority, comparing: Comparing): Promise<void> {
  const { server, fingerprint, flag, warning = '', shell } = comparing
  if (fingerprint !== null) {
    if (normalFingerprint(fingerprint) === normalFingerprint(claimed.fingerprint)) return
    throw new CommandFailure(
      `The authority of ${server} has another fingerprint (${claimed.fingerprint}) than the one given: somebody may be in ` +
        'between. Nothing was sent or trusted.',
    )
  }
  if (!shell.isTerminal) {
    throw new CommandFailure(
      `This computer does not know the authority of ${server}, and there is no terminal to ask: give its fingerprint, as the ` +
        `administrator sees it, with ${flag}.`,
    )
  }
  shell.say(
    `${server} has an authority of its own, which this computer does not know.${warning} Its fingerprint:`,
  )
  shell.say(`  ${claimed.fingerprint}`)
  const answer = await shell.ask('Does the administrator see the same one? [y/N] ')
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure('Nothing was sent or trusted.')
}
