// The results as one self-contained HTML page: the table, and plots of the rates over time and of the
// latencies.

import { type LoadResult, SLOT_MILLISECONDS } from './load.ts'

export interface PlottedLoad {
  readonly name: string
  readonly result: LoadResult
}

type Points = readonly (readonly [x: number, y: number])[]
type Plot = { title: string; x: string; y: string; lines: readonly Points[] }

const WIDTH = 720
const HEIGHT = 300
const MARGIN = { left: 70, right: 12, top: 12, bottom: 36 }
const TICKS = 5
const SHARES = [0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999]

export function renderPage(from: { machine: string; table: string; loads: readonly PlottedLoad[] }): string {
  const { machine, table, loads } = from
  const legend = loads.map(({ name }, n) => `<li style="color:${colourOf(n)}">${escapeText(name)}</li>`)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Oncebox: benchmark</title><style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1f2328; background: #fff }
svg { max-width: 100%; height: auto } pre { overflow-x: auto }
</style></head><body><h1>Oncebox: benchmark</h1>
<p>${escapeText(machine)}</p><pre>${escapeText(table)}</pre><ul>${legend.join('')}</ul>
${plotsOf(loads).map(renderPlot).join('\n')}
</body></html>
`
}

function plotsOf(loads: readonly PlottedLoad[]): Plot[] {
  return [
    {
      title: 'Rates over time',
      x: 'seconds',
      y: 'answers a second',
      lines: loads.map(({ result }) =>
        result.overTime.map((rate, slot) => [(slot * SLOT_MILLISECONDS) / 1000, rate] as const),
      ),
    },
    {
      title: 'Latencies',
      x: 'one of so many requests is slower, as a power of ten',
      y: 'milliseconds',
      lines: loads.map(({ result }) =>
        SHARES.map((share) => [-Math.log10(1 - share), result.latencies.percentile(share)] as const),
      ),
    },
  ]
}

function renderPlot({ title, x, y, lines }: Plot): string {
  const points = lines.flat()
  const minX = Math.min(...points.map(([at]) => at))
  const maxX = Math.max(...points.map(([at]) => at))
  const maxY = Math.max(...points.map(([, value]) => value)) * 1.05 || 1
  const left = (at: number) =>
    MARGIN.left + ((at - minX) / (maxX - minX || 1)) * (WIDTH - MARGIN.left - MARGIN.right)
  const top = (value: number) =>
    HEIGHT - MARGIN.bottom - (value / maxY) * (HEIGHT - MARGIN.top - MARGIN.bottom)
  const drawn = lines.map((line, n) => {
    const path = line.map(([at, value]) => `${left(at).toFixed(1)},${top(value).toFixed(1)}`).join(' ')
    return `<polyline fill="none" stroke="${colourOf(n)}" stroke-width="1.5" points="${path}"/>`
  })
  const ticks = Array.from({ length: TICKS + 1 }, (_, n) => (maxY / TICKS) * n).map((value) => {
    const at = top(value).toFixed(1)
    const label = value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })
    return `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${at}" y2="${at}" stroke="#ddd"/><text x="${MARGIN.left - 6}" y="${at}" text-anchor="end" dominant-baseline="middle">${label}</text>`
  })
  const ends = [minX, maxX].map(
    (at, n) =>
      `<text x="${left(at)}" y="${HEIGHT - MARGIN.bottom + 14}" text-anchor="${n === 0 ? 'start' : 'end'}">${at.toFixed(1)}</text>`,
  )
  return `<h2>${title}</h2>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${title}" font-size="11">
${ticks.join('')}${ends.join('')}${drawn.join('')}
<text x="${WIDTH / 2}" y="${HEIGHT - 4}" text-anchor="middle">${x}</text>
<text x="12" y="${HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 12 ${HEIGHT / 2})">${y}</text></svg>`
}

/** Colours: distinct for neighbours, and dark enough on white. */
function colourOf(n: number): string {
  return `hsl(${(n * 137) % 360} 65% 38%)`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
