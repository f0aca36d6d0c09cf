// Collects the skipped tests from the output of `bun test`, and shows which programs were missing.

import { stripVTControlCharacters } from 'node:util'
import { PACKAGES } from './programs.ts'

/**
 * Matches a skipped test. Bun prints it where it would have run, with a symbol on a terminal, and at the end.
 */
const SKIPPED = /^(?:\(skip\)|») (.+?)(?: \[[\d.]+m?s\])?$/
/** Matches the mark that `needs` of test/support/needs.ts adds to a test's name. */
const NEEDED = / \[needs ([^\]]+)\]/

export function createSkips() {
  const names = new Set<string>()

  /** Copies the stream to our standard error as it arrives. */
  async function passOn(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of stream) {
      process.stderr.write(bytes)
      const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) note(line)
    }
  }

  function note(line: string): void {
    const name = SKIPPED.exec(stripVTControlCharacters(line))?.[1]
    if (name !== undefined) names.add(name)
  }

  return { passOn, note, table: () => tableOf([...names]) }
}

function tableOf(names: readonly string[]): string {
  if (names.length === 0) return '\nNo test was skipped.'
  const needs = new Map<string, number>()
  for (const need of names.flatMap((name) => NEEDED.exec(name)?.[1]?.split(', ') ?? []))
    needs.set(need, (needs.get(need) ?? 0) + 1)
  const others = names.filter((name) => !NEEDED.test(name))
  return [
    ...(needs.size === 0
      ? []
      : ['\nSkipped for want of a program (npm run test:tools installs what it can):']),
    ...(needs.size === 0 ? [] : [row(['program', 'tests', 'package'])]),
    ...[...needs].sort().map(([need, count]) => row([need, String(count), remedyFor(need)])),
    ...(others.length === 0 ? [] : ['\nSkipped on a machine such as this one:']),
    ...others.map((name) => `  ${name}`),
  ].join('\n')
}

function row([program = '', count = '', remedy = '']: readonly string[]): string {
  return `  ${program.padEnd(16)}  ${count.padStart(5)}  ${remedy}`
}

function remedyFor(need: string): string {
  if (need === 'root') return 'run the tests as root'
  if (need === 'mount') return 'run the tests as root, where mounting is allowed'
  return (PACKAGES as Record<string, string | null>)[need] ?? 'a system that systemd has booted'
}
