// `oncebox trust`: makes this machine trust the authority of a server.

import type { Command } from 'commander'
import type { ClaimedAuthority } from '../client/authority.ts'
import { isOfLocalNetwork } from '../domain/local-names.ts'
import { printableLine } from '../domain/printable.ts'
import { readSettings } from '../settings/fold.ts'
import { serverUrl } from '../settings/parsers.ts'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { compare, fingerprintProblems } from './authority.ts'
import { CommandFailure, UsageError } from './failures.ts'
import { addSettingFlags, addTextFlag, givenFlags, readOperands, textFlag } from './flags.ts'
import { placeWithService } from './service/service-settings.ts'
import type { Shell } from './shell.ts'

type Parts = { shell: Shell; app: App }

const TABLE = { dataDir: settings.dataDir, tlsAuthorityKey: settings.tlsAuthorityKey }

const EXAMPLES = `
Examples:
  sudo oncebox trust                       the server of this machine, for everybody on it
  oncebox trust --print > oncebox.pem      its authority alone, to carry elsewhere
  oncebox trust https://oncebox.local:5100 --fingerprint AB:CD:…
                                           the server of another machine

The server prints its fingerprint at the start. Compare it before you trust anything from a network.`

export function addTrustCommand(program: Command, parts: Parts): void {
  const { shell, app } = parts
  const command = program
    .command('trust')
    .usage('[URL] [flags]')
    .summary("trust a server's own authority, so that browsers open it without a warning")
    .description(
      "Makes this machine trust the authority of a server with --tls auto: that of this machine's server, or of the one at URL.",
    )
    .addHelpText('after', EXAMPLES)
  addTextFlag(command, '--fingerprint <sha256>', 'Fingerprint of the authority, instead of asking')
  command.option('--print', 'Print the authority in PEM and change nothing')
  addSettingFlags(command, TABLE)
  command.action(async () => {
    const { server, place } = readCommandLine(command, shell)
    const fingerprint = textFlag(command, 'fingerprint') ?? null
    const authority =
      server === null
        ? await app.readOwnAuthority(place)
        : await fetchCompared(server, { fingerprint, ...parts })
    if (command.getOptionValue('print') === true) {
      shell.printExactly(authority.certificate)
      return
    }
    const { installAuthority } = await import('./trust-store.ts')
    for (const line of await installAuthority(authority, shell)) shell.print(line)
  })
}

async function fetchCompared(
  server: string,
  { fingerprint, shell, app }: Parts & { fingerprint: string | null },
): Promise<ClaimedAuthority> {
  const claimed = await app.fetchAuthority(server)
  if (claimed === null) {
    throw new CommandFailure(
      `${server} offers no authority of its own: it has to run with --tls auto or --lan.`,
    )
  }
  refuseFarReaching(await app.namesOfAuthority(claimed.certificate), server)
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

function readCommandLine(command: Command, shell: Shell) {
  const { readFile } = shell
  const { operands, problems } = readOperands(command, { names: ['URL'], optional: 1 })
  const [url] = operands
  const server = url === undefined ? null : serverUrl(url)
  const flags = givenFlags(command, TABLE)
  // The settings of this machine's service do not apply to another machine's server.
  const place = server === null ? placeWithService(shell, flags) : shell.place
  const reading = readSettings(TABLE, { flags, place, readFile })
  const all = [
    ...problems,
    ...(reading.problems ?? []),
    ...(server !== null && 'problem' in server ? [`URL ${JSON.stringify(url)}: ${server.problem}`] : []),
    ...fingerprintProblems(command, 'fingerprint'),
  ]
  if (all.length > 0 || reading.config === undefined || (server !== null && 'problem' in server)) {
    throw new UsageError(all, 'oncebox trust')
  }
  return { server: server?.value ?? null, place: reading.config }
}
