// `oncebox trust`: makes this machine trust the authority of a server.

import { namesOfAuthority, readOwnAuthority } from '../app/own-authority.ts'
import { type ClaimedAuthority, fetchAuthority } from '../client/authority.ts'
import { isOfLocalNetwork } from '../domain/local-names.ts'
import { printableLine } from '../domain/printable.ts'
import { compare } from './authority.ts'
import type { Given } from './command.ts'
import { CommandFailure } from './failures.ts'
import { installAuthority } from './trust-store.ts'

type Trust = Given<
  { fingerprint: string | null; print: boolean },
  { dataDir: string; tlsAuthorityKey: string | null }
>

export async function trust(given: Trust): Promise<void> {
  const { operands, flags, config, shell } = given
  const [server] = operands
  const authority = server === undefined ? await readOwnAuthority(config) : await fetchCompared(server, given)
  if (flags.print) return void shell.printExactly(authority.certificate)
  for (const line of await installAuthority(authority, shell)) shell.print(line)
}

async function fetchCompared(
  server: string,
  { flags: { fingerprint }, shell }: Trust,
): Promise<ClaimedAuthority> {
  const claimed = await fetchAuthority(server)
  if (claimed === null) {
    throw new CommandFailure(
      `${server} offers no authority of its own: it has to run with --tls auto or --lan.`,
    )
  }
  refuseFarReaching(await namesOfAuthority(claimed.certificate), server)
  await compare(claimed, { server, fingerprint, flag: '--fingerprint', shell })
  return claimed
}

/** Throws when the authority can vouch for more than names of the local network and the server's own name. */
function refuseFarReaching(names: readonly string[], server: string): void {
  if (names.length === 0 || names.includes('')) {
    throw new CommandFailure(
      `The authority of ${server} could vouch for every name on the internet, which no authority of Oncebox can. Nothing was ` +
        'trusted.',
    )
  }
  const { hostname } = new URL(server)
  const foreign = names.find((name) => name !== hostname && !isOfLocalNetwork(name))
  if (foreign === undefined) return
  throw new CommandFailure(
    `The authority of ${server} could vouch for ${printableLine(foreign)} and every name below it. Nothing was trusted. If that ` +
      `is a name of this server, give it: "oncebox trust https://${printableLine(foreign)}:PORT".`,
  )
}
