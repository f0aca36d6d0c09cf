// The report as one self-contained HTML page with plots.

import { cpus, release, type as systemType, totalmem } from 'node:os'
import type { Plot, Step } from './report.ts'

export interface PageContent {
  readonly machine: readonly string[]
  readonly headings: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly verdicts: readonly string[]
  readonly steps: readonly Step[]
  readonly plots: readonly Plot[]
}

const WIDTH = 720
const HEIGHT = 300
const MARGIN = { left: 70, right: 12, top: 12, bottom: 36 }
const COLOURS = [
  '#2b5a87',
  '#b5542b',
  '#2e7d4f',
  '#7a3e9d',
  '#a38a1c',
  '#3b8ea5',
  '#8c2f4b',
  '#5a6068',
  '#1f1f1f',
]
const TICKS = 5

export function describeMachine(division: string): string[] {
  const [cpu] = cpus()
  return [
    `${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${(totalmem() / 1024 ** 3).toFixed(0)} GiB`,
    `${systemType()} ${release()}, Bun ${Bun.version}`,
    division,
    `measured on ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
  ]
}

export function renderPage({ machine, headings, rows, verdicts, steps, plots }: PageContent): string {
  const table = [
    `<tr>${headings.map((text) => `<th>${escapeText(text)}</th>`).join('')}</tr>`,
    ...rows.map((cells) => `<tr>${cells.map((text) => `<td>${escapeText(text)}</td>`).join('')}</tr>`),
  ]
  const longest = Math.max(1, ...steps.map(({ microseconds }) => microseconds))
  const bars = steps.map(
    ({ name, microseconds }) =>
      `<tr><td>${escapeText(name)}</td><td><meter max="${longest}" value="${microseconds}"></meter></td><td>${microseconds.toFixed(1)} µs</td></tr>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Oncebox: benchmark</title><style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1f2328; background: #fff }
table { border-collapse: collapse; margin: 1rem 0 } th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: end }
td:first-child, th:first-child { text-align: start } meter { width: 16rem } svg { max-width: 100%; height: auto } li.missed { color: #a32020 }
</style></head><body><h1>Oncebox: benchmark</h1>
<ul>${machine.map((line) => `<li>${escapeText(line)}</li>`).join('')}</ul>
<table>${table.join('')}</table>
<ul>${verdicts.map((line) => `<li${line.startsWith('MISSED') ? ' class="missed"' : ''}>${escapeText(line)}</li>`).join('')}</ul>
<h2>The steps of a retrieve</h2><table>${bars.join('')}</table>
${plots.map(renderPlot).join('\n')}
</body></html>
`
}

function renderPlot({ title, x, y, series }: Plot): string {
  const drawn = series.filter(({ points }) => points.length > 1)
  const points = drawn.flatMap((one) => one.points)
  if (points.length === 0) return ''
  const [minX, maxX] = [Math.min(...points.map(([at]) => at)), Math.max(...points.map(([at]) => at))]
  const maxY = Math.max(...points.map(([, value]) => value)) * 1.05 || 1
  const left = (at: number) =>
    MARGIN.left + ((at - minX) / (maxX - minX || 1)) * (WIDTH - MARGIN.left - MARGIN.right)
  const top = (value: number) =>
    HEIGHT - MARGIN.bottom - (value / maxY) * (HEIGHT - MARGIN.top - MARGIN.bottom)
  const lines = drawn.map(({ points: own }, n) => {
    const path = own.map(([at, value]) => `${left(at).toFixed(1)},${top(value).toFixed(1)}`).join(' ')
    return `<polyline fill="none" stroke="${COLOURS[n % COLOURS.length]}" stroke-width="1.5" points="${path}"/>`
  })
  const ticks = Array.from({ length: TICKS + 1 }, (_, n) => (maxY / TICKS) * n).map((value) => {
    const at = top(value).toFixed(1)
    const label = value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1)
    return `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${at}" y2="${at}" stroke="#ddd"/><text x="${MARGIN.left - 6}" y="${at}" text-anchor="end" dominant-baseline="middle">${label}</text>`
  })
  const ends = [minX, maxX].map(
    (at, n) =>
      `<text x="${left(at)}" y="${HEIGHT - MARGIN.bottom + 14}" text-anchor="${n === 0 ? 'start' : 'end'}">${Number(at.toFixed(2)).toLocaleString('en')}</text>`,
  )
  const legend = drawn.map(
    ({ name }, n) => `<span style="color:${COLOURS[n % COLOURS.length]}">▬ ${escapeText(name)}</span>`,
  )
  return `<h2>${escapeText(title)}</h2><p>${legend.join(' &nbsp; ')}</p>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escapeText(title)}" font-size="11">
${ticks.join('')}${ends.join('')}${lines.join('')}
<text x="${WIDTH / 2}" y="${HEIGHT - 4}" text-anchor="middle">${escapeText(x)}</text>
<text x="12" y="${HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 12 ${HEIGHT / 2})">${escapeText(y)}</text></svg>`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
