// Formats the results as a Markdown table for docs/benchmark.md, with the targets beside the measurements.

import { cpus, release, type as systemType, totalmem } from 'node:os'
import { basename } from 'node:path'
import type { Wanted } from './targets.ts'

export interface Cell {
  /** The value; undefined if it cannot be measured on this machine, and the remark says why. */
  readonly measured: number | undefined
  readonly remark?: string
}

export interface Row {
  readonly what: string
  readonly unit: '%' | 'ms' | 'MiB' | 'MiB/s' | '/s'
  readonly wanted?: Wanted | undefined
  /** One value for each binary. */
  readonly cells: readonly Cell[]
}

export function formatTable(rows: readonly Row[], binaries: readonly string[]): string {
  const columns = ['measured', ...binaries.slice(1).map((path) => basename(path))]
  const lines = [
    ['', 'wanted', ...columns],
    ['---', '---', ...columns.map(() => '---')],
    ...rows.map((row) => [row.what, formatWanted(row), ...row.cells.map((cell) => formatCell(row, cell))]),
  ]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export function describeMachine(division: string): string {
  const [cpu] = cpus()
  const day = new Date().toISOString().slice(0, 10)
  const memory = `${(totalmem() / 1024 ** 3).toFixed(0)} GiB`
  return `Measured on ${day}: ${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${memory}, ${systemType()} ${release()}, Bun ${Bun.version}; ${division}.`
}

function formatWanted({ wanted, unit }: Row): string {
  if (wanted === undefined) return '–'
  return 'atLeast' in wanted ? `≥ ${format(wanted.atLeast, unit)}` : `≤ ${format(wanted.atMost, unit)}`
}

function formatCell({ wanted, unit }: Row, { measured, remark }: Cell): string {
  if (measured === undefined) return `not measured: ${remark ?? 'this system does not tell'}`
  const found = format(measured, unit)
  const verdict = wanted !== undefined && isMissed(measured, wanted) ? `**${found}, missed**` : found
  return remark === undefined ? verdict : `${verdict} (${remark})`
}

function isMissed(measured: number, wanted: Wanted): boolean {
  return 'atLeast' in wanted ? measured < wanted.atLeast : measured > wanted.atMost
}

function format(value: number, unit: Row['unit']): string {
  const text = value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })
  return unit === '/s' ? `${text}/s` : `${text} ${unit}`
}

export function formatRate(rate: number): string {
  return Math.round(rate).toLocaleString('en')
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
