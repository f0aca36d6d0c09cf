// The package for Fedora, RHEL, openSUSE and their relatives, built by rpmbuild.

import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import type { OpenPgpSigner } from './openpgp.ts'
import {
  type Package,
  packageFiles,
  packageVersion,
  placeFile,
  projectFile,
  runPackager,
} from './package-files.ts'
import { RPM_PROCESSORS } from './parts.ts'
import { fillTemplate } from './templates.ts'

const DOCUMENTS = 'usr/share/doc/oncebox'

export function isRpmbuildHere(): boolean {
  return Bun.which('rpmbuild') !== null
}

/** Builds the package. Throws the message of rpmbuild when it fails. */
export async function writeRpmPackage({ output, architecture, ...described }: Package): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'oncebox-rpm-'))
  const { version, time } = described
  try {
    const staged = join(work, 'root')
    const files = packageFiles(described)
    for (const file of files) placeFile(staged, file, time)
    const others = files.map(({ path }) => path).filter((path) => !path.startsWith(`${DOCUMENTS}/`))
    const values = {
      'rpm-version': packageVersion(version),
      staged,
      files: [`%doc /${DOCUMENTS}`, ...others.map((path) => `/${path}`)].join('\n'),
    }
    const spec = join(work, 'oncebox.spec')
    writeFileSync(spec, fillTemplate(projectFile('packaging/rpm/oncebox.spec').toString(), values))
    const target = ['--target', `${RPM_PROCESSORS[architecture]}-linux`]
    await runPackager(['rpmbuild', '-bb', ...target, '--define', `_topdir ${work}/made`, spec], {
      time,
      home: work,
    })
    const [made = ''] = new Glob('made/RPMS/*/*.rpm').scanSync(work)
    copyFileSync(join(work, made), output)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Adds a signature to a package, in its place. Throws the message of rpmsign when it fails. */
export async function signRpmPackage(path: string, signer: OpenPgpSigner, time: number): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'oncebox-rpm-'))
  const [header, signature, script] = ['header', 'signature', 'sign'].map((name) => join(work, name))
  // rpmsign runs a program to sign the header. This script first only saves the header, so that the key stays
  // in this process. Newer versions of rpm pass one more argument at the beginning.
  const lines = ['#!/bin/sh', 'shift $(($# - 2))', `cat "$1" >${header} && cp ${signature} "$2"`, '']
  const file = '%{__plaintext_filename} %{__signature_filename}'
  const macros = ['_gpg_name oncebox', `__gpg_sign_cmd ${script} sign ${file}`]
  const command = ['rpmsign', ...macros.flatMap((macro) => ['--define', macro]), '--addsign', path]
  try {
    writeFileSync(script ?? '', lines.join('\n'), { mode: 0o755 })
    const asked = await runPackager(command, { time, home: work }).catch((cause: Error) => cause)
    if (!existsSync(header ?? '')) throw asked
    writeFileSync(signature ?? '', signer.signatureOf(readFileSync(header ?? '')))
    await runPackager(command, { time, home: work })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
