// `oncebox trust`: makes this machine trust the authority of a server, in its stores of trusted authorities.

import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ClaimedAuthority, fetchAuthority } from '../../client/authority.ts'
import { codeOf } from '../../domain/system-errors.ts'
import { isOfLocalNetwork } from '../../text/local-names.ts'
import { printableLine } from '../../text/printable.ts'
import { compareAuthority, fingerprintFlag } from '../authority.ts'
import { command, some, toggle } from '../command.ts'
import { CommandFailure } from '../failures.ts'
import type { Shell } from '../shell.ts'

export const TRUST = command({
  name: 'trust',
  operands: '[URL]',
  heading: 'Logins:',
  flags: {
    fingerprint: fingerprintFlag('fingerprint'),
    print: toggle('print'),
  },
  settings: some('dataDir', 'tlsAuthorityKey'),
  // Ignore the settings of this machine's service: the server is on another machine.
  isOnData: ([url]) => url === undefined,
  act: async ({ operands: [server], flags: { fingerprint, print }, config, shell }) => {
    const { readOwnAuthority } = await import('../../app/own-authority.ts')
    const authority =
      server === undefined
        ? await readOwnAuthority(config)
        : await fetchCompared({ server, fingerprint, flag: 'fingerprint' }, shell)
    if (print) return shell.printExactly(authority.certificate)
    shell.print(...(await installAuthority(authority, shell)))
  },
})

async function fetchCompared(
  comparing: Parameters<typeof compareAuthority>[1],
  shell: Shell,
): Promise<ClaimedAuthority> {
  const { server } = comparing
  const claimed = await fetchAuthority(server)
  if (claimed === null)
    throw new CommandFailure(
      `${server} offers no authority of its own: it has to run with --tls auto or --lan.`,
    )
  const { namesOfAuthority } = await import('../../app/own-authority.ts')
  refuseFarReaching(await namesOfAuthority(claimed.certificate), server)
  await compareAuthority(claimed, comparing, shell)
  return claimed
}

/** Throws if the authority can vouch for other names than those of the local network and the server's own. */
function refuseFarReaching(names: readonly string[], server: string): void {
  const { hostname } = new URL(server)
  const isForAll = names.length === 0 || names.includes('')
  const foreign = names.find((name) => name !== hostname && !isOfLocalNetwork(name))
  if (!isForAll && foreign === undefined) return
  const name = printableLine(foreign ?? '')
  const [reach, remedy] = isForAll
    ? ['every name on the internet, which no authority of Oncebox can', '']
    : [
        `${name} and every name below it`,
        ` If that is a name of this server, give it: "oncebox trust https://${name}:PORT".`,
      ]
  throw new CommandFailure(
    `The authority of ${server} could vouch for ${reach}. Nothing was trusted.${remedy}`,
  )
}

/** The folder of additional authorities and the command that installs them, for each Linux family. */
const LINUX_STORES: readonly [folder: string, command: string][] = [
  ['/usr/local/share/ca-certificates', 'update-ca-certificates'],
  ['/etc/pki/ca-trust/source/anchors', 'update-ca-trust extract'],
  ['/etc/ca-certificates/trust-source/anchors', 'update-ca-trust extract'],
]

/**
 * Installs the authority and returns a line for each store. Throws CommandFailure, with the manual way, when
 * the system refuses.
 */
async function installAuthority(authority: ClaimedAuthority, { os }: Shell): Promise<string[]> {
  const { platform, home } = os
  if (platform === 'linux') return installOnLinux(authority, home)
  const keychain = join(home, 'Library', 'Keychains', 'login.keychain-db')
  const [command, where, tool]: [string[], string, string] =
    platform === 'darwin'
      ? [
          ['security', 'add-trusted-cert', '-r', 'trustRoot', '-k', keychain],
          'in your login keychain',
          'there',
        ]
      : [['certutil', '-user', '-addstore', 'Root'], 'for your user', 'in certmgr.msc']
  await withFile(authority, (path) => attempt([...command, path]))
  return [`Trusted ${where}. Remove it ${tool} to trust it no longer.`]
}

async function installOnLinux(authority: ClaimedAuthority, home: string): Promise<string[]> {
  const name = `oncebox-${authority.fingerprint.replaceAll(':', '').slice(0, 8).toLowerCase()}`
  const done = [
    await installForSystem(authority, name),
    await installForChromium(authority, name, join(home, '.pki', 'nssdb')),
  ].filter((line) => line !== null)
  if (done.length > 0) return done
  throw new CommandFailure(
    'Only root can change what this machine trusts: "sudo oncebox trust …". For your own Chromium alone, install certutil ' +
      '(libnss3-tools) and try again; for Firefox, import the file of "oncebox trust --print".',
  )
}

/** Resolves to null when this user lacks the permission. */
async function installForSystem({ certificate }: ClaimedAuthority, name: string): Promise<string | null> {
  const [folder = '', command = ''] = LINUX_STORES.find(([folder]) => existsSync(folder)) ?? []
  if (folder === '') return null
  const path = join(folder, `${name}.crt`)
  try {
    writeFileSync(path, certificate, { mode: 0o644 })
  } catch (cause) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(codeOf(cause))) return null
    throw cause
  }
  await attempt(command.split(' '))
  return `Trusted by this machine: ${path}. To trust it no longer, remove that file and run "${command}".`
}

/** Installs into the user's store of Chromium. Resolves to null without that store or without certutil. */
async function installForChromium(authority: ClaimedAuthority, name: string, store: string) {
  if (!existsSync(store)) return null
  const words = ['-d', `sql:${store}`, '-A', '-t', 'C,,', '-n', name, '-i']
  return withFile(authority, (path) => attempt(['certutil', ...words, path])).then(
    () => `Trusted by your Chromium: ${name} in ${store}.`,
    () => null,
  )
}

async function withFile(
  { certificate }: ClaimedAuthority,
  work: (path: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-trust-'))
  using cleaning = new DisposableStack()
  cleaning.defer(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'oncebox.pem')
  writeFileSync(path, certificate)
  await work(path)
}

const run = promisify(execFile)

async function attempt([program = '', ...words]: readonly string[]): Promise<void> {
  await run(program, words).catch((cause) => {
    const reason = cause instanceof Error ? cause.message.split('\n').at(-1) : String(cause)
    throw new CommandFailure(`${program} failed: ${reason}`)
  })
}
