// The page that says for whom each form of a release is.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { fileNameOf, PARTS } from '../../scripts/release/parts.ts'

const page = readFileSync(join(import.meta.dir, '../../docs/install.md'), 'utf8')
const [, ...sections] = page.split(/^## /m)

test('each form takes at most five lines', () => {
  const lengths = sections.map((section) => {
    const [title, ...lines] = section.trim().split('\n')
    return { title, lines: lines.filter((line) => line !== '' && !line.startsWith('```')).length }
  })
  expect(lengths.length).toBeGreaterThan(8)
  expect(lengths.filter(({ lines }) => lines < 1 || lines > 5)).toEqual([])
})

test('the files that it names are those of this version', () => {
  const named = page.match(/oncebox[-_]\d[\w.-]*\w/g) ?? []
  const made = PARTS.map((part) => fileNameOf(part, manifest.version))
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((name) => !made.includes(name))).toEqual([])
})

test('a command in a container that asks for a password has a terminal', () => {
  expect(page).toMatch(/docker exec -it oncebox oncebox user add/)
})

test('the table leads to each of them', () => {
  const anchors = sections.map((section) => {
    const title = section.slice(0, section.indexOf('\n'))
    return `(#${title
      .toLowerCase()
      .replace(/[^a-z -]/g, '')
      .replaceAll(' ', '-')})`
  })
  expect(anchors.filter((anchor) => !page.includes(anchor))).toEqual([])
})
