// The results of a benchmark: a table of the loads, and a verdict on every target.

import { type LoadResult, SLOT_MILLISECONDS } from './load.ts'
import { renderPage } from './page.ts'

export interface Row {
  readonly what: string
  readonly result: LoadResult
  /** The rate of the bare server around this load; absent for loads that do not measure a rate. */
  readonly bareRate?: number
  readonly target?: string
}

export interface Target {
  readonly what: string
  /** Undefined when it could not be measured on this system. */
  readonly measured: number | undefined
  readonly unit: '%' | 'ms' | 'MiB' | 'MiB/s' | '/s' | ''
  readonly limit: { readonly atLeast: number; readonly aim?: number } | { readonly atMost: number }
  readonly remark?: string
}

/** A line of a plot: its name and points. */
export interface Series {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface Plot {
  readonly title: string
  readonly x: string
  readonly y: string
  readonly series: readonly Series[]
}

export interface Report {
  addRow(row: Row): void
  /** Resident MiB over the seconds of a load. */
  addMemory(series: Series): void
  /** Shown only on the page. */
  addPlot(plot: Plot): void
  /** The time of each step of a retrieve, in microseconds. */
  addSteps(steps: readonly Step[]): void
  judge(target: Target): void
  print(): void
  /** All results as one self-contained HTML page. */
  page(machine: readonly string[]): string
}

export interface Step {
  readonly name: string
  readonly microseconds: number
}

const HEADINGS = ['', 'rate/s', 'bare/s', '% of bare', 'target', 'p50 ms', 'p99 ms', 'max ms', 'errors']

export function createReport(): Report {
  const rows: Row[] = []
  const targets: Target[] = []
  const plots: Plot[] = []
  const memory: Series[] = []
  const steps: Step[] = []

  function print(): void {
    console.log(`\n${formatTable([HEADINGS, ...rows.map(presentRow)])}\n`)
    for (const { what, result } of rows) {
      if (result.firstError !== undefined) console.log(`first error of ${what}: ${result.firstError}`)
    }
    for (const { name, microseconds } of steps) console.log(`step     ${name}: ${microseconds.toFixed(1)} µs`)
    for (const target of targets) console.log(presentVerdict(target))
  }

  return {
    addRow: (row) => void rows.push(row),
    judge: (target) => void targets.push(target),
    addMemory: (series) => void memory.push(series),
    addPlot: (plot) => void plots.push(plot),
    addSteps: (measured) => void steps.push(...measured),
    print,
    page: (machine) =>
      renderPage({
        machine,
        headings: HEADINGS,
        rows: rows.map(presentRow),
        verdicts: targets.map(presentVerdict),
        steps,
        plots: [
          ...plotsOf(rows),
          { title: 'Memory', x: 'seconds', y: 'MiB resident', series: memory },
          ...plots,
        ],
      }),
  }
}

const SHARES = [0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999]

/** Rates over time and the distribution of latencies, of every load. */
function plotsOf(rows: Row[]): Plot[] {
  return [
    {
      title: 'Rates over time',
      x: 'seconds',
      y: 'answers a second',
      series: rows.map(({ what, result }) => ({
        name: what,
        points: result.overTime.map((rate, slot) => [(slot * SLOT_MILLISECONDS) / 1000, rate] as const),
      })),
    },
    {
      title: 'Latencies',
      x: 'one of so many requests is slower, as a power of ten',
      y: 'milliseconds',
      series: rows.map(({ what, result }) => ({
        name: what,
        points: SHARES.map((share) => [-Math.log10(1 - share), result.latencies.percentile(share)] as const),
      })),
    },
  ]
}

function presentRow({ what, result, bareRate, target }: Row): string[] {
  const { rate, latencies, errors } = result
  return [
    what,
    Math.round(rate).toLocaleString('en'),
    bareRate === undefined ? '' : Math.round(bareRate).toLocaleString('en'),
    bareRate === undefined ? '' : ((rate / bareRate) * 100).toFixed(1),
    target ?? '',
    latencies.percentile(0.5).toFixed(2),
    latencies.percentile(0.99).toFixed(2),
    latencies.longest().toFixed(1),
    String(errors),
  ]
}

function formatTable(lines: string[][]): string {
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line.map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      ),
    )
    .map((cells) => cells.join('  ').trimEnd())
    .join('\n')
}

function presentVerdict(target: Target): string {
  const { what, measured, limit } = target
  const bound =
    'atLeast' in limit
      ? `at least ${format(target, limit.atLeast)}`
      : `at most ${format(target, limit.atMost)}`
  const remark = target.remark === undefined ? '' : ` (${target.remark})`
  if (measured === undefined)
    return `unknown  ${what}: could not be measured here, ${bound} is wanted${remark}`
  const short = 'atLeast' in limit ? limit.atLeast - measured : measured - limit.atMost
  const found = `${what}: ${format(target, measured)}, ${bound} is wanted`
  if (short > 0) return `MISSED   ${found}: missed by ${format(target, short)}${remark}`
  return `met      ${found}${presentAim(target)}${remark}`
}

function presentAim(target: Target): string {
  if (target.measured === undefined || !('aim' in target.limit) || target.limit.aim === undefined) return ''
  const short = target.limit.aim - target.measured
  const aim = `aim of ${format(target, target.limit.aim)}`
  return short > 0 ? `; ${aim} missed by ${format(target, short)}` : `; ${aim} met`
}

function format({ unit }: Target, value: number): string {
  const digits = Number.isInteger(value) ? 0 : 1
  return unit === '' ? value.toFixed(digits) : `${value.toFixed(digits)} ${unit}`
}
