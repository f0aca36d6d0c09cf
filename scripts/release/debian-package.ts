// The package for Debian and its relatives.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type InstalledFile,
  MAINTAINER,
  type Package,
  packageFiles,
  packageVersion,
  packed,
  placeFile,
  projectFile,
  runPackager,
} from './package-files.ts'

export function isDpkgHere(): boolean {
  return Bun.which('dpkg-deb') !== null
}

/** Builds the package. Throws the message of dpkg-deb when it fails. */
export async function writeDebianPackage({ output, time, ...described }: Package): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'oncebox-deb-'))
  try {
    const files = filesOf({ ...described, time })
    const scripts = [
      { path: 'DEBIAN/control', bytes: Buffer.from(controlText({ ...described, files })) },
      { path: 'DEBIAN/md5sums', bytes: Buffer.from(checksumsOf(files)) },
      ...['postinst', 'prerm', 'postrm'].map((name) => ({
        path: `DEBIAN/${name}`,
        bytes: projectFile(`packaging/${name}`),
        mode: 0o755,
      })),
    ]
    for (const file of [...files, ...scripts]) placeFile(root, file, time)
    rmSync(output, { force: true })
    // Debian's lintian and older releases of dpkg refuse zstd. With several threads, the bytes would depend
    // on the number of cores.
    const flags = ['--root-owner-group', '-Zxz', '-z6', '--threads-max=1', '--build', root, output]
    await runPackager(['dpkg-deb', ...flags], { time, home: root })
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Returns the files that the package installs. */
export function filesOf(described: Pick<Package, 'binary' | 'version' | 'time'>): InstalledFile[] {
  return [
    ...packageFiles(described),
    { path: 'usr/share/doc/oncebox/changelog.gz', bytes: packed(Buffer.from(changelogText(described))) },
    { path: 'usr/share/lintian/overrides/oncebox', bytes: projectFile('packaging/lintian-overrides') },
  ]
}

type Described = Pick<Package, 'architecture' | 'version'> & {
  files: readonly Pick<InstalledFile, 'bytes'>[]
}

/** Returns the control file (Debian Policy Manual, 5.3). */
export function controlText({ architecture, version, files }: Described): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0)
  return `Package: oncebox
Version: ${packageVersion(version)}
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
function changelogText({ version, time }: Pick<Package, 'version' | 'time'>): string {
  const date = new Date(time * 1000).toUTCString().replace('GMT', '+0000')
  return `oncebox (${packageVersion(version)}) stable; urgency=medium

  * CHANGELOG.md in this folder tells what is new.

 -- ${MAINTAINER}  ${date}
`
}

function checksumsOf(files: readonly InstalledFile[]): string {
  const lines = files.map(({ path, bytes }) => `${createHash('md5').update(bytes).digest('hex')}  ${path}\n`)
  return lines.join('')
}
