// The packages and repositories of a release, as the programs of their systems read them.

import { afterAll, beforeAll, expect } from 'bun:test'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenPgpSigner } from '../../../scripts/release/openpgp.ts'
import type { Architecture } from '../../../scripts/release/parts.ts'
import { needs } from '../../support/needs.ts'
import {
  createReleaseKey,
  makeSmallRelease,
  RELEASED,
  type SmallRelease,
} from '../../support/small-release.ts'

const PROJECT = join(import.meta.dir, '../../..')
const WORK = mkdtempSync(join(tmpdir(), 'oncebox-packages-'))
let release: SmallRelease

beforeAll(async () => {
  release = await makeSmallRelease(join(WORK, 'release'), { key: createReleaseKey() })
})

afterAll(() => rmSync(WORK, { recursive: true, force: true }))

async function run(command: readonly string[], cwd = WORK) {
  const env = { ...process.env, LC_ALL: 'C.UTF-8', HOME: WORK, GNUPGHOME: WORK }
  const child = Bun.spawn([...command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { exitCode: await child.exited, stdout, stderr }
}

/** Returns what the program prints. Throws when it fails. */
async function read(...command: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(command)
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

let rooms = 0

/** Returns the line that docs/install.md adds to the sources of apt. */
function documentedSource(): string {
  const page = readFileSync(join(PROJECT, 'docs/install.md'), 'utf8')
  return /deb \[signed-by=.*\] file:\/media\/stick\/apt stable main/.exec(page)?.[0] ?? ''
}

/** Creates an apt with separate state, which knows the repository by the line of docs/install.md. */
function aptFor(address: string, architecture: Architecture, keyring = join(release.folder, 'oncebox.asc')) {
  const root = join(WORK, `apt-${rooms++}`)
  for (const path of [
    'etc/apt/keyrings',
    'etc/apt/preferences.d',
    'etc/apt/apt.conf.d',
    'state/lists/partial',
  ])
    mkdirSync(join(root, path), { recursive: true })
  mkdirSync(join(root, 'cache/archives/partial'), { recursive: true })
  writeFileSync(join(root, 'status'), '')
  const installed = join(root, 'etc/apt/keyrings/oncebox.asc')
  cpSync(keyring, installed)
  const line = documentedSource()
    .replace('[', `[arch=${architecture} `)
    .replace('/etc/apt/keyrings/oncebox.asc', installed)
    .replace('file:/media/stick/apt', address)
  writeFileSync(join(root, 'etc/apt/sources.list'), `${line}\n`)
  const options = Object.entries({
    'Dir::Etc': join(root, 'etc/apt'),
    'Dir::State': join(root, 'state'),
    'Dir::State::status': join(root, 'status'),
    'Dir::Cache': join(root, 'cache'),
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return { root, run: (...words: string[]) => run(['apt-get', ...options, ...words], root) }
}

const apt = needs('apt-get', 'dpkg-deb')

for (const architecture of ['amd64', 'arm64'] as const)
  apt.test(
    `apt checks the signature and downloads the package for ${architecture} from a folder`,
    async () => {
      const { root, run } = aptFor(`file:${release.folder}/apt`, architecture)
      expect(await run('update')).toMatchObject({ exitCode: 0, stderr: '' })
      expect((await run('download', 'oncebox')).exitCode).toBe(0)
      const downloaded = readFileSync(join(root, `oncebox_3.1.0_${architecture}.deb`))
      expect(downloaded.equals(readFileSync(release.pathOf(`deb-${architecture}`)))).toBe(true)
    },
  )

apt.test('apt downloads the package from a web server', async () => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const file = Bun.file(join(release.folder, new URL(request.url).pathname))
      return (await file.exists()) ? new Response(file) : new Response('', { status: 404 })
    },
  })
  try {
    const { root, run } = aptFor(`http://127.0.0.1:${server.port}/apt`, 'amd64')
    expect(await run('update')).toMatchObject({ exitCode: 0, stderr: '' })
    expect((await run('download', 'oncebox')).exitCode).toBe(0)
    expect(existsSync(join(root, 'oncebox_3.1.0_amd64.deb'))).toBe(true)
  } finally {
    await server.stop(true)
  }
})

/** Copies the repository, changes the copy, and returns apt's complaints about it. */
async function complaintAbout(change: (dists: string) => void): Promise<string> {
  const folder = mkdtempSync(join(WORK, 'changed-'))
  cpSync(join(release.folder, 'apt'), folder, { recursive: true })
  change(join(folder, 'dists/stable'))
  return (await aptFor(`file:${folder}`, 'amd64').run('update')).stderr
}

apt.test(
  'apt refuses a repository that was altered, that another key signed, or that nobody signed',
  async () => {
    const altered = await complaintAbout((dists) => {
      const text = readFileSync(join(dists, 'InRelease'), 'utf8')
      writeFileSync(join(dists, 'InRelease'), text.replace('Label: Oncebox', 'Label: Twicebox'))
    })
    expect(altered).toContain('BADSIG')
    const replaced = await complaintAbout((dists) => {
      for (const name of ['Packages', 'Packages.gz'])
        writeFileSync(join(dists, 'main/binary-amd64', name), 'Package: other\n')
    })
    expect(replaced).toContain('E: Failed to fetch')
    const unsigned = await complaintAbout((dists) => {
      for (const name of ['InRelease', 'Release.gpg']) rmSync(join(dists, name))
    })
    expect(unsigned).toContain('is not signed')

    const other = join(WORK, 'other.asc')
    writeFileSync(other, createOpenPgpSigner(createReleaseKey(), RELEASED.time).publicKey)
    const foreign = await aptFor(`file:${release.folder}/apt`, 'amd64', other).run('update')
    expect(foreign.stderr).toContain('NO_PUBKEY')
  },
)

/** Writes the public key for gpgv, which reads no text. Returns the path. */
function keyringOf(text: string): string {
  const lines = text.split('\n')
  const body = lines.slice(
    lines.indexOf('') + 1,
    lines.findIndex((line) => line.startsWith('=')),
  )
  const keyring = join(mkdtempSync(join(WORK, 'keyring-')), 'keyring.gpg')
  writeFileSync(keyring, Buffer.from(body.join(''), 'base64'))
  return keyring
}

needs('gpgv').test(
  'gpgv accepts both signatures of the repository, and SHA256SUMS names the key',
  async () => {
    const dists = join(release.folder, 'apt/dists/stable')
    const keyring = keyringOf(readFileSync(join(release.folder, 'apt/oncebox.asc'), 'utf8'))
    for (const files of [['InRelease'], ['Release.gpg', 'Release']]) {
      const paths = files.map((name) => join(dists, name))
      const { stderr } = await run(['gpgv', '--keyring', keyring, ...paths])
      expect(stderr).toContain(`using EDDSA key ${release.fingerprint}`)
      expect(stderr).toContain('Good signature from "The Oncebox project')
    }
    const sums = await run(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], release.folder)
    expect(sums).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    expect(readFileSync(join(release.folder, 'SHA256SUMS'), 'utf8')).toContain('  apt/oncebox.asc\n')
  },
)

needs('gpgv').test('gpgv accepts a signature whose numbers are short', async () => {
  const signer = createOpenPgpSigner(createReleaseKey(), RELEASED.time)
  const texts = Array.from({ length: 3000 }, (_, index) => Buffer.from(`text ${index}`))
  const signed = texts.map((text) => ({ text, signature: signer.signatureOf(text) }))
  const shortest = signed.reduce((least, each) =>
    each.signature.length < least.signature.length ? each : least,
  )
  const longest = Math.max(...signed.map(({ signature }) => signature.length))
  expect(shortest.signature.length).toBeLessThan(longest)
  const paths = ['short.sig', 'short'].map((name) => join(WORK, name))
  writeFileSync(paths[0] ?? '', shortest.signature)
  writeFileSync(paths[1] ?? '', shortest.text)
  const { stderr } = await run(['gpgv', '--keyring', keyringOf(signer.publicKey), ...paths])
  expect(stderr).toContain('Good signature')
})

const rpm = needs('rpmbuild')

for (const [architecture, processor] of [
  ['amd64', 'x86_64'],
  ['arm64', 'aarch64'],
] as const)
  rpm.test(`rpm reads the package for ${processor}, with its files, needs and scripts`, async () => {
    const path = release.pathOf(`rpm-${architecture}`)
    const query = (...words: string[]) => read('rpm', '-qp', '--nosignature', ...words, path)
    expect(
      await query('--qf', '%{NAME} %{VERSION} %{RELEASE} %{ARCH} %{LICENSE} %{BUILDTIME} %{BUILDHOST}'),
    ).toBe(`oncebox 3.1.0 1 ${processor} Apache-2.0 1790000000 oncebox.invalid`)
    const files = (await query('-l')).split('\n')
    for (const file of [
      '/usr/bin/oncebox',
      '/usr/share/man/man1/oncebox.1.gz',
      '/usr/share/doc/oncebox/docs/lan.md',
    ])
      expect(files).toContain(file)
    expect(files.filter((file) => file.includes('lintian'))).toEqual([])
    expect(await query('--requires')).toContain('libc.so.6(GLIBC_2.17)(64bit)\n')
    expect(await query('--scripts')).toContain('/usr/bin/oncebox service uninstall')
    const owners = (await query('--qf', '[%{FILEUSERNAME}:%{FILEGROUPNAME}\n]')).trim().split('\n')
    expect(new Set(owners)).toEqual(new Set(['root:root']))
  })

needs('rpmbuild', 'cpio').test('the package for rpm contains the executable of its processor', async () => {
  const path = release.pathOf('rpm-arm64')
  const script = 'rpm2cpio "$0" | cpio --quiet --to-stdout --extract ./usr/bin/oncebox'
  expect(await read('sh', '-c', script, path)).toBe(readFileSync(release.pathOf('linux-arm64'), 'utf8'))
})

rpm.test('rpm accepts the signature with the release key alone', async () => {
  const path = release.pathOf('rpm-amd64')
  const database = ['--dbpath', join(WORK, 'rpm-database')]
  mkdirSync(join(WORK, 'rpm-database'))
  expect((await run(['rpmkeys', ...database, '--checksig', path])).exitCode).not.toBe(0)
  await read('rpmkeys', ...database, '--import', join(release.folder, 'oncebox.asc'))
  expect(await read('rpmkeys', ...database, '--checksig', '-v', path)).toMatch(
    /EdDSA\/SHA512 Signature.*: OK/,
  )
})
