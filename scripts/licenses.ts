// Writes the licences of all embedded packages to src/cli/licenses.txt; with `--check` it only checks that
// the file is up to date.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import lock from '../package-lock.json' with { type: 'json' }

const PROJECT = join(import.meta.dir, '..')
const TARGET = join(PROJECT, 'src', 'cli', 'licenses.txt')
const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i
const RULE = '-'.repeat(80)

type Locked = { version?: string; license?: string; dev?: boolean; optional?: boolean; name?: string }

type Embedded = { name: string; version: string; license: string; texts: string[] }

function listPackages(): Embedded[] {
  const packages: Record<string, Locked> = lock.packages
  return Object.entries(packages)
    .filter(([path, { dev, optional }]) => path !== '' && !dev && !optional)
    .map(([path, { name, version = '', license = 'unknown' }]) => ({
      name: name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      license,
      texts: readTexts(join(PROJECT, path)),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

function readTexts(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => LICENSE_FILE.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim())
}

/** The licences of Bun and its libraries, from Bun's documentation. */
function runtimeText(): string {
  const path = join(PROJECT, 'node_modules', 'bun-types', 'docs', 'project', 'license.mdx')
  const text = readFileSync(path, 'utf8')
  return text.slice(text.indexOf('Bun itself')).replace(/ {2,}/g, ' ').replace(/-{4,}/g, '---').trim()
}

function compose(): string {
  const embedded = listPackages()
  const summary = embedded.map(({ name, version, license }) => `  ${name} ${version}: ${license}`)
  // Print each text once: many packages share one.
  const owners = new Map<string, string[]>()
  for (const { name, version, texts } of embedded) {
    for (const text of texts) owners.set(text, [...(owners.get(text) ?? []), `${name} ${version}`])
  }
  const texts = [...owners].map(([text, names]) => `${RULE}\n${names.join(', ')}\n${RULE}\n\n${text}\n`)
  return [
    `Oncebox ${manifest.version} is licensed under the Apache License, version 2.0.`,
    '',
    'It embeds these packages:',
    '',
    ...summary,
    '',
    `and the runtime bun ${manifest.devDependencies.bun}, about which its documentation says:`,
    '',
    runtimeText(),
    '',
    'The licences of the packages in full:',
    '',
    ...texts,
  ].join('\n')
}

const text = compose()
const before = await Bun.file(TARGET)
  .text()
  .catch(() => '')
if (text === before) process.exit(0)
if (process.argv.includes('--check')) {
  console.error('src/cli/licenses.txt is out of date: run "npm run licenses".')
  process.exit(1)
}
await Bun.write(TARGET, text)
