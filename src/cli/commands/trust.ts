// `oncebox trust`: makes this machine trust the authority of a server, in its stores of trusted authorities.

import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ClaimedAuthority, fetchAuthority } from '../../client/authority.ts'
import { isOfLocalNetwork } from '../../domain/local-names.ts'
import { printableLine } from '../../domain/printable.ts'
import { codeOf } from '../../domain/system-errors.ts'
import { compareAuthority, fingerprintFlag } from '../authority.ts'
import { command, some, toggle } from '../command.ts'
import { CommandFailure } from '../failures.ts'
import type { Shell } from '../shell.ts'

export const TRUST = command({
  name: 'trust',
  operands: '[URL]',
  heading: 'Logins:',
  help:
    "Trusts a server's own authority, so that browsers open it without a warning. It is that of a server with --tls auto: this " +
    "machine's server, or the one at URL.",
  examples: `  sudo oncebox trust                       the server of this machine, for everybody on it
  oncebox trust --print > oncebox.pem      its authority alone, to carry elsewhere
  oncebox trust https://oncebox.local:5100 --fingerprint AB:CD:…
                                           the server of another machine

The server prints its fingerprint at the start. Compare it before you trust anything from a network.`,
  flags: {
    fingerprint: fingerprintFlag('fingerprint'),
    print: toggle('print', 'Print the authority in PEM and change nothing'),
  },
  settings: some('dataDir', 'tlsAuthorityKey'),
  // The settings of this machine's service do not apply to another machine's server.
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

const run = promisify(execFile)

/** The folder for additional authorities on each family of Linux systems, and the command that applies them. */
const LINUX_STORES = [
  { folder: '/usr/local/share/ca-certificates', command: ['update-ca-certificates'] },
  { folder: '/etc/pki/ca-trust/source/anchors', command: ['update-ca-trust', 'extract'] },
  { folder: '/etc/ca-certificates/trust-source/anchors', command: ['update-ca-trust', 'extract'] },
]

/** Returns a line for each thing done. Throws CommandFailure, with the way to do it by hand, when the system refuses. */
async function installAuthority(authority: ClaimedAuthority, { place }: Shell): Promise<string[]> {
  const { platform, home } = place
  if (platform === 'linux') return installOnLinux(authority, home)
  return withFile(authority, async (path) => {
    if (platform === 'darwin') {
      const keychain = join(home, 'Library', 'Keychains', 'login.keychain-db')
      await attempt('security', ['add-trusted-cert', '-r', 'trustRoot', '-k', keychain, path])
      return ['Trusted in your login keychain. Remove it there to trust it no longer.']
    }
    await attempt('certutil', ['-user', '-addstore', 'Root', path])
    return ['Trusted for your user. Remove it in certmgr.msc to trust it no longer.']
  })
}

async function installOnLinux(authority: ClaimedAuthority, home: string): Promise<string[]> {
  const name = `oncebox-${authority.fingerprint.replaceAll(':', '').slice(0, 8).toLowerCase()}`
  const system = await installForSystem(authority, name)
  const browser = await installForChromium(authority, { name, home })
  if (system === null && browser === null) {
    throw new CommandFailure(
      'Only root can change what this machine trusts: "sudo oncebox trust …". For your own Chromium alone, install certutil ' +
        '(libnss3-tools) and try again; for Firefox, import the file of "oncebox trust --print".',
    )
  }
  return [system, browser].filter((line) => line !== null)
}

/** Null when this user may not. */
async function installForSystem({ certificate }: ClaimedAuthority, name: string): Promise<string | null> {
  const store = LINUX_STORES.find(({ folder }) => existsSync(folder))
  if (store === undefined) return null
  const path = join(store.folder, `${name}.crt`)
  try {
    writeFileSync(path, certificate, { mode: 0o644 })
  } catch (cause) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(codeOf(cause))) return null
    throw cause
  }
  const [program = '', ...words] = store.command
  await attempt(program, words)
  return `Trusted by this machine: ${path}. To trust it no longer, remove that file and run "${store.command.join(' ')}".`
}

/** Chromium has a store for each user. Null when there is none, or nothing to write to it. */
async function installForChromium(
  authority: ClaimedAuthority,
  { name, home }: { name: string; home: string },
): Promise<string | null> {
  const store = join(home, '.pki', 'nssdb')
  if (!existsSync(store)) return null
  return withFile(authority, async (path) => {
    try {
      await run('certutil', ['-d', `sql:${store}`, '-A', '-t', 'C,,', '-n', name, '-i', path])
    } catch {
      return null
    }
    return `Trusted by your Chromium: ${name} in ${store}.`
  })
}

async function withFile<T>(
  { certificate }: ClaimedAuthority,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-trust-'))
  try {
    const path = join(folder, 'oncebox.pem')
    writeFileSync(path, certificate)
    return await work(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function attempt(program: string, words: readonly string[]): Promise<void> {
  await run(program, words).catch((cause) => {
    const reason = cause instanceof Error ? (cause.message.split('\n').at(-1) ?? '') : String(cause)
    throw new CommandFailure(`${program} failed: ${reason}`)
  })
}
