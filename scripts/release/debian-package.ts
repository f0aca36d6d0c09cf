// The package for Debian and its relatives: the executable, and an entry for the menu of the desktop.

import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Glob } from 'bun'
import { PROJECT } from '../compile.ts'
import { manPage } from './man-page.ts'
import type { Architecture } from './parts.ts'

export type DebianPackage = {
  architecture: Architecture
  version: string
  /** The path of the executable. */
  binary: string
  output: string
  /** The time of everything in it, in seconds. */
  time: number
}

type Installed = { path: string; bytes: Uint8Array; mode?: number }

export function isDpkgHere(): boolean {
  return Bun.which('dpkg-deb') !== null
}

/** Builds the package. Throws the message of dpkg-deb when it fails. */
export async function writeDebianPackage({ output, time, ...described }: DebianPackage): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'oncebox-deb-'))
  try {
    const files = filesOf({ ...described, time })
    const scripts = [
      { path: 'DEBIAN/control', bytes: Buffer.from(controlText({ ...described, files })) },
      { path: 'DEBIAN/md5sums', bytes: Buffer.from(checksumsOf(files)) },
      ...['postinst', 'prerm', 'postrm'].map((name) => ({
        path: `DEBIAN/${name}`,
        bytes: readFileSync(join(PROJECT, 'packaging', name)),
        mode: 0o755,
      })),
    ]
    for (const file of [...files, ...scripts]) place(root, file, time)
    rmSync(output, { force: true })
    // Debian's lintian and older releases of dpkg refuse zstd. With several threads, the bytes would depend
    // on the number of cores.
    const flags = ['--root-owner-group', '-Zxz', '-z6', '--threads-max=1', '--build', root, output]
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(time) }
    const child = Bun.spawn(['dpkg-deb', ...flags], {
      env,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const complaint = await new Response(child.stderr).text()
    if ((await child.exited) !== 0) throw new Error(`dpkg-deb: ${complaint.trim()}`)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Returns the files that the package installs. */
export function filesOf({
  binary,
  version,
  time,
}: Pick<DebianPackage, 'binary' | 'version' | 'time'>): Installed[] {
  const project = (path: string) => readFileSync(join(PROJECT, path))
  const pack = (bytes: Uint8Array) => gzipSync(bytes, { level: 9 })
  const packed = (path: string) => pack(project(path))
  // Keeps the paths that their links to each other name.
  const pages = [
    'CHANGELOG.md',
    'README.md',
    'SECURITY.md',
    ...new Glob('docs/**/*').scanSync(PROJECT),
  ].sort()
  return [
    { path: 'usr/bin/oncebox', bytes: readFileSync(binary), mode: 0o755 },
    ...pages.map((page) => ({ path: `usr/share/doc/oncebox/${page}`, bytes: project(page) })),
    { path: 'usr/share/man/man1/oncebox.1.gz', bytes: pack(Buffer.from(manPage({ version, time }))) },
    { path: 'usr/share/applications/oncebox.desktop', bytes: project('packaging/oncebox.desktop') },
    {
      path: 'usr/share/doc/oncebox/changelog.gz',
      bytes: pack(Buffer.from(changelogText({ version, time }))),
    },
    { path: 'usr/share/lintian/overrides/oncebox', bytes: project('packaging/lintian-overrides') },
    { path: 'usr/share/doc/oncebox/copyright', bytes: project('packaging/copyright') },
    { path: 'usr/share/doc/oncebox/licenses.gz', bytes: packed('src/cli/licenses.txt') },
    {
      path: 'usr/share/icons/hicolor/scalable/apps/oncebox.svg',
      bytes: project('src/pages/frame/icon.svg'),
    },
  ]
}

function place(root: string, { path, bytes, mode = 0o644 }: Installed, time: number): void {
  const target = join(root, path)
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 })
  for (let folder = dirname(target); folder.startsWith(root); folder = dirname(folder))
    chmodSync(folder, 0o755)
  writeFileSync(target, bytes)
  chmodSync(target, mode)
  utimesSync(target, time, time)
}

const MAINTAINER = 'The Oncebox project <oncebox@oncebox.invalid>'

type Described = Pick<DebianPackage, 'architecture' | 'version'> & {
  files: readonly Pick<Installed, 'bytes'>[]
}

/** Returns the control file (Debian Policy Manual, 5.3). */
export function controlText({ architecture, version, files }: Described): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0)
  return `Package: oncebox
Version: ${debianVersion(version)}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: libc6 (>= 2.17)
Recommends: xdg-utils
Section: net
Priority: optional
Description: share secrets by links that open a limited number of times
 Oncebox is a web server in one executable: it shares passwords, notes, files,
 links and QR codes. Each gets its own link and is destroyed after a number of
 views or days. It needs no database, no mail and no internet.
 .
 The menu entry starts it for the user of the desktop and opens the browser.
 "oncebox service install" makes it a service of the machine.
`
}

/** Returns the changelog in Debian's format (Debian Policy Manual, 4.4). */
function changelogText({ version, time }: Pick<DebianPackage, 'version' | 'time'>): string {
  const date = new Date(time * 1000).toUTCString().replace('GMT', '+0000')
  return `oncebox (${debianVersion(version)}) stable; urgency=medium

  * CHANGELOG.md in this folder tells what is new.

 -- ${MAINTAINER}  ${date}
`
}

/** Returns Debian's version, in which a tilde sorts a pre-release before its release. */
function debianVersion(version: string): string {
  return version.replace('-', '~')
}

function checksumsOf(files: readonly Installed[]): string {
  const lines = files.map(({ path, bytes }) => `${createHash('md5').update(bytes).digest('hex')}  ${path}\n`)
  return lines.join('')
}
