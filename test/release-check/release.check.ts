// Starts the files of `npm run release`, as far as this machine can: `npm run release:check`.

import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { readSigningKey, signFile } from '../../scripts/release/minisign.ts'
import { ARCHITECTURES, type Architecture, fileNameOf, partOf } from '../../scripts/release/parts.ts'
import { RECIPES } from '../../scripts/release/templates.ts'
import { makeRoot, unmountAll, unpackImage } from './roots.ts'
import { start, use } from './started.ts'

const VERSION = manifest.version
const PROJECT = join(import.meta.dir, '..', '..')
const RELEASE = join(PROJECT, 'dist', 'release')
const WORK = mkdtempSync(join(tmpdir(), 'oncebox-release-check-'))
const HERE: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
const isRoot = process.platform === 'linux' && process.getuid?.() === 0

afterAll(() => {
  unmountAll()
  rmSync(WORK, { recursive: true, force: true })
})

const fileOf = (part: string) => join(RELEASE, fileNameOf(part, VERSION))

/** A folder that only this process uses. */
function folder(name: string): string {
  const path = join(WORK, name)
  mkdirSync(path, { recursive: true })
  return path
}

/**
 * `lacking` says why this machine cannot run the test; null when it can. A part that was not built is skipped
 * with its name as well.
 */
function check(
  name: string,
  { part, lacking }: { part: string; lacking: string | null },
  work: () => Promise<void>,
) {
  const reason = existsSync(fileOf(part)) ? lacking : `${part} is not in dist/release (npm run release)`
  if (reason !== null) console.warn(`SKIPPED: ${name}: ${reason}`)
  test.skipIf(reason !== null)(name, work)
}

async function startAndUse(
  command: readonly string[],
  env: Record<string, string> = {},
  whileRunning = () => {},
): Promise<void> {
  const started = await start(command, env)
  try {
    await use(started)
    whileRunning()
  } finally {
    expect(await started.stop()).toBe(0)
  }
}

/** Returns the command that runs a Linux program for this processor, or what this machine lacks for it. */
function runnerFor(architecture: Architecture): { command: string[] } | { lacking: string } {
  if (process.platform !== 'linux') return { lacking: 'this is not Linux' }
  if (architecture === HERE) return { command: [] }
  const processor = architecture === 'arm64' ? 'aarch64' : 'x86_64'
  const program = Bun.which(`qemu-${processor}-static`)
  const root = `/usr/${processor}-linux-gnu`
  if (program !== null && existsSync(`${root}/lib/libc.so.6`)) return { command: [program, '-L', root] }
  return { lacking: `install qemu-user-static and libc6-${architecture}-cross` }
}

for (const architecture of ['amd64', 'arm64'] as const) {
  const part = ARCHITECTURES[architecture]
  const runner = runnerFor(architecture)
  const lacking = 'lacking' in runner ? runner.lacking : null
  const command = 'command' in runner ? runner.command : []
  check(`the executable for ${part} serves`, { part, lacking }, () =>
    startAndUse([...command, fileOf(part), 'serve', '--port', '0', '--data-dir', join(folder(part), 'data')]),
  )
}

const hasMusl = existsSync('/lib/ld-musl-x86_64.so.1') && existsSync('/usr/lib/libstdc++.so.6')
check(
  'the executable for musl serves',
  { part: 'linux-x64-musl', lacking: hasMusl ? null : 'this is no Alpine with libstdc++' },
  () => startAndUse([fileOf('linux-x64-musl'), 'serve', '--port', '0', '--data-dir', folder('musl')]),
)

const wine = Bun.which('wine64') ?? Bun.which('wine')
check(
  'the executable for Windows serves under Wine',
  { part: 'windows-x64', lacking: wine === null ? 'install wine64' : null },
  () =>
    startAndUse([wine ?? '', fileOf('windows-x64'), 'serve', '--port', '0', '--data-dir', 'data'], {
      HOME: folder('wine'),
      WINEPREFIX: join(folder('wine'), 'prefix'),
      WINEDEBUG: '-all',
    }),
)

const mac = `macos-${process.arch}`
check(
  'the executable for macOS serves',
  { part: mac, lacking: process.platform === 'darwin' ? null : 'this is not macOS' },
  () => startAndUse([fileOf(mac), 'serve', '--port', '0', '--data-dir', folder('mac')]),
)

const rootNeeded = isRoot ? null : 'run this as root'

check(
  'dpkg installs the package, which serves for a user',
  { part: `deb-${HERE}`, lacking: rootNeeded },
  async () => {
    const root = folder('deb')
    makeRoot(root)
    const install = ['dpkg', `--root=${root}`, '--force-depends', '--install', fileOf(`deb-${HERE}`)]
    const installed = Bun.spawnSync(install)
    expect(installed.stderr.toString()).not.toContain('error')
    expect(installed.exitCode).toBe(0)
    expect(Bun.spawnSync(['dpkg', `--root=${root}`, '--verify', 'oncebox']).stdout.toString()).toBe('')
    const entry = readFileSync(join(root, 'usr/share/applications/oncebox.desktop'), 'utf8')
    expect(entry).toContain('\nExec=/usr/bin/oncebox open\n')
    const asUser = ['chroot', '--userspec=1000:1000', root, '/usr/bin/oncebox']
    await startAndUse([...asUser, 'serve', '--port', '0', '--data-dir', '/home/ann/data'], {
      HOME: '/home/ann',
    })
    const removed = Bun.spawnSync(['dpkg', `--root=${root}`, '--force-depends', '--purge', 'oncebox'])
    expect(removed.exitCode).toBe(0)
    expect(existsSync(join(root, 'usr/bin/oncebox'))).toBe(false)
  },
)

check(
  'rpm installs the package',
  { part: `rpm-${HERE}`, lacking: Bun.which('rpm') === null ? 'install rpm' : rootNeeded },
  async () => {
    const root = folder('rpm')
    const rpm = ['rpm', `--root=${root}`]
    const install = [...rpm, '--install', '--nodeps', '--noscripts', '--nosignature', fileOf(`rpm-${HERE}`)]
    expect(Bun.spawnSync(install).exitCode).toBe(0)
    expect(Bun.spawnSync([...rpm, '--verify', '--nodeps', 'oncebox']).stdout.toString()).toBe('')
    const installed = Bun.spawnSync([join(root, 'usr/bin/oncebox'), '--version'])
    expect(installed.stdout.toString()).toContain(VERSION)
  },
)

check(
  'lintian finds no fault in the package',
  { part: `deb-${HERE}`, lacking: Bun.which('lintian') === null ? 'install lintian' : null },
  async () => {
    const { exitCode, stdout } = Bun.spawnSync([
      'lintian',
      '-I',
      '--fail-on',
      'error,warning',
      fileOf(`deb-${HERE}`),
    ])
    expect([stdout.toString(), exitCode]).toEqual(['', 0])
  },
)

const hasDpkg = Bun.which('dpkg') !== null && Bun.which('systemctl') !== null && Bun.which('unshare') !== null
check(
  'the service of the package ends with it; a purge takes its settings and leaves the data',
  { part: `deb-${HERE}`, lacking: hasDpkg ? rootNeeded : 'install dpkg and systemd' },
  async () => {
    const script = `
      mount -t tmpfs none "$ROOM" && mkdir "$ROOM"/up "$ROOM"/work "$ROOM"/root
      mount -t overlay overlay -o lowerdir=/,upperdir="$ROOM"/up,workdir="$ROOM"/work "$ROOM"/root
      cp "$PACKAGE" "$ROOM"/root/tmp/oncebox.deb && mount -t proc proc "$ROOM"/root/proc
      exec chroot "$ROOM"/root sh -c '
        dpkg -i /tmp/oncebox.deb && oncebox service install --no-start && install -d -o oncebox -m 700 /var/lib/oncebox
        dpkg -i /tmp/oncebox.deb; ls /etc/systemd/system/oncebox.service
        dpkg -r oncebox; ls /etc/systemd/system/oncebox.service /etc/oncebox/oncebox.env
        dpkg -P oncebox; ls -d /etc/oncebox /var/lib/oncebox' 2>&1`
    const env = { ...process.env, ROOM: folder('service'), PACKAGE: fileOf(`deb-${HERE}`) }
    const said = Bun.spawnSync(['unshare', '--mount', 'sh', '-c', script], { env }).stdout.toString()
    const [, upgraded = '', removed = '', purged = ''] = said
      .split(/^(?:Preparing to unpack .*|Removing .*|Purging .*)$/m)
      .slice(1)
    expect(upgraded).toMatch(/^\/etc\/systemd\/system\/oncebox\.service$/m)
    expect(removed).toContain('Kept: the data in /var/lib/oncebox')
    expect(removed).toContain("cannot access '/etc/systemd/system/oncebox.service'")
    expect(removed).toMatch(/^\/etc\/oncebox\/oncebox\.env$/m)
    expect(purged).toContain('Kept: /var/lib/oncebox.')
    expect(purged).toContain("cannot access '/etc/oncebox'")
    expect(purged).toMatch(/^\/var\/lib\/oncebox$/m)
  },
)

test.skipIf(!existsSync(RELEASE))('dist/release contains only the release', () => {
  const made = ['SHA256SUMS', 'oncebox.asc', 'apt', ...RECIPES]
  const isOurs = (name: string) => partOf(name, VERSION) !== null || made.includes(name)
  expect(readdirSync(RELEASE).filter((name) => !isOurs(name.replace(/\.minisig$/, '')))).toEqual([])
})

check(
  'the image serves as its user, with a read-only root',
  { part: `image-${HERE}`, lacking: rootNeeded },
  async () => {
    const root = folder('image')
    const { Entrypoint, Cmd, Env, User, Healthcheck } = unpackImage(fileOf(`image-${HERE}`), root)
    const env = Object.fromEntries(Env.map((pair) => pair.split('=', 2)))
    const inside = ['/usr/sbin/chroot', `--userspec=${User}`, root]
    await startAndUse([...inside, ...Entrypoint, ...Cmd, '--port', '0'], env, () => {
      const [, ...healthCheck] = Healthcheck.Test
      expect(Bun.spawnSync([...inside, ...healthCheck], { env }).stdout.toString()).toBe('ok\n')
    })
  },
)

check('the image is under 70 MB', { part: `image-${HERE}`, lacking: null }, async () => {
  expect(Bun.file(fileOf(`image-${HERE}`)).size).toBeLessThan(70e6)
})

check('a release has the same bytes a second time', { part: `image-${HERE}`, lacking: null }, async () => {
  const parts = [ARCHITECTURES[HERE], `deb-${HERE}`, `image-${HERE}`]
  const digests = async () =>
    Promise.all(parts.map(async (part) => Bun.SHA256.hash(await Bun.file(fileOf(part)).bytes(), 'hex')))
  const before = await digests()
  const command = [process.execPath, 'scripts/release.ts', '--only', parts.join(',')]
  expect(Bun.spawnSync(command, { cwd: PROJECT }).exitCode).toBe(0)
  expect(await digests()).toEqual(before)
})

const minisign = Bun.which('minisign')
check(
  'minisign accepts the signatures',
  { part: 'sbom', lacking: minisign === null ? 'install minisign' : null },
  async () => {
    const at = (name: string) => join(folder('keys'), name)
    const make = ['minisign', '-G', '-f', '-p', at('key.pub'), '-s', at('key')]
    expect(Bun.spawnSync(make, { stdin: Buffer.from('a password\na password\n') }).exitCode).toBe(0)
    const bytes = readFileSync(fileOf('sbom'))
    writeFileSync(at('file'), bytes)
    const key = readSigningKey(readFileSync(at('key'), 'utf8'), 'a password')
    writeFileSync(at('file.minisig'), signFile(bytes, key, `oncebox ${VERSION} sbom`))
    const verified = Bun.spawnSync(['minisign', '-V', '-p', at('key.pub'), '-m', at('file')])
    expect(verified.stdout.toString()).toContain(`Trusted comment: oncebox ${VERSION} sbom`)
  },
)
