// The files that packages of Linux install: the executable, its manual page, the offline documentation, and
// an entry for the menu of the desktop.

import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Glob } from 'bun'
import { PROJECT } from '../compile.ts'
import { manPage } from './man-page.ts'
import type { Architecture } from './parts.ts'

export const MAINTAINER = 'The Oncebox project <oncebox@oncebox.invalid>'

export type Package = {
  architecture: Architecture
  version: string
  /** The path of the executable. */
  binary: string
  output: string
  /** The modification time of every file in the package, in seconds. */
  time: number
}

export type InstalledFile = { path: string; bytes: Uint8Array; mode?: number }

type Described = Pick<Package, 'binary' | 'version' | 'time'>

export function packageFiles({ binary, version, time }: Described): InstalledFile[] {
  // Keep the folders, so that the links between the pages work.
  const pages = [
    'CHANGELOG.md',
    'README.md',
    'SECURITY.md',
    ...new Glob('docs/**/*').scanSync(PROJECT),
  ].sort()
  return [
    { path: 'usr/bin/oncebox', bytes: readFileSync(binary), mode: 0o755 },
    ...pages.map((page) => ({ path: `usr/share/doc/oncebox/${page}`, bytes: projectFile(page) })),
    { path: 'usr/share/man/man1/oncebox.1.gz', bytes: packed(Buffer.from(manPage({ version, time }))) },
    { path: 'usr/share/applications/oncebox.desktop', bytes: projectFile('packaging/oncebox.desktop') },
    { path: 'usr/share/doc/oncebox/copyright', bytes: projectFile('packaging/copyright') },
    { path: 'usr/share/doc/oncebox/licenses.gz', bytes: packed(projectFile('src/cli/licenses.txt')) },
    {
      path: 'usr/share/icons/hicolor/scalable/apps/oncebox.svg',
      bytes: projectFile('src/pages/frame/icon.svg'),
    },
  ]
}

export function projectFile(path: string): Buffer {
  return readFileSync(join(PROJECT, path))
}

export function packed(bytes: Uint8Array): Uint8Array {
  return gzipSync(bytes, { level: 9 })
}

/** Returns the version of a package, in which a tilde sorts a pre-release before its release. */
export function packageVersion(version: string): string {
  return version.replace('-', '~')
}

/** Writes a file below the root of a package, with its mode and time. */
export function placeFile(root: string, { path, bytes, mode = 0o644 }: InstalledFile, time: number): void {
  const target = join(root, path)
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 })
  for (let folder = dirname(target); folder.startsWith(root); folder = dirname(folder))
    chmodSync(folder, 0o755)
  writeFileSync(target, bytes)
  chmodSync(target, mode)
  utimesSync(target, time, time)
}

/** Runs a packager with the release's time for its timestamps. Throws its error output when it fails. */
export async function runPackager(
  command: readonly string[],
  { time, home }: { time: number; home: string },
): Promise<void> {
  // The packager must not read the preferences of this user.
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(time), HOME: home }
  const child = Bun.spawn([...command], { env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const complaint = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`${command[0]}: ${complaint.trim()}`)
}
