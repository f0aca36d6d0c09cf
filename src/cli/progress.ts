// The progress of an upload or a download on a terminal, and the message when the user cancels it.

import { formatSize } from './format.ts'

export type Progress = { update: (done: number, total: number | null) => void; stop: () => void }

/** `cancelled` returns the message for a signal that ends the command meanwhile. */
export type StartProgress = (label: string, cancelled: () => string) => Progress

/** As in shells: 128 plus the number of the signal. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const
const BAR_CELLS = 24

export function createStartProgress(stream: NodeJS.WriteStream): StartProgress {
  return (label, cancelled) => {
    const bar = stream.isTTY ? createBar(stream, label) : null
    const giveUp = (signal: keyof typeof EXIT_CODES) => {
      // Stopping the bar restores the cursor and line wrapping.
      bar?.stop()
      stream.write(`oncebox: ${cancelled()}\n`, () => process.exit(EXIT_CODES[signal]))
    }
    process.once('SIGINT', giveUp)
    process.once('SIGTERM', giveUp)
    return {
      update: (done, total) => bar?.update(done, total),
      stop: () => {
        process.off('SIGINT', giveUp)
        process.off('SIGTERM', giveUp)
        bar?.stop()
      },
    }
  }
}

/** Starts with the first bytes, so that a short transfer draws nothing. */
function createBar(stream: NodeJS.WriteStream, label: string): Progress {
  // Loaded here, because most commands draw nothing.
  const { Presets, SingleBar }: typeof import('cli-progress') = require('cli-progress')
  const options = { stream, format, hideCursor: true, clearOnComplete: true }
  const bar = new SingleBar(options, Presets.shades_classic)
  let started = false
  return {
    update: (done, total) => {
      if (started) return bar.update(done)
      started = true
      bar.start(total ?? 0, done, { label })
    },
    stop: () => bar.stop(),
  }
}

type State = { progress: number; value: number; total: number; startTime: number }

function format(_: unknown, state: State, { label }: { label: string }): string {
  const { progress, value, total, startTime } = state
  const seconds = Math.max(0.001, (performance.timeOrigin + performance.now() - startTime) / 1000)
  const speed = `${formatSize(value / seconds)}/s`
  // The total is unknown.
  if (total === 0) return `${label} ${formatSize(value)}, ${speed}`
  const cells = Math.round(Math.min(1, progress) * BAR_CELLS)
  const bar = '█'.repeat(cells).padEnd(BAR_CELLS, '░')
  const left = value > 0 ? Math.ceil(((total - value) * seconds) / value) : 0
  return `${label} ${bar} ${Math.floor(progress * 100)} % of ${formatSize(total)}, ${speed}, ${formatSeconds(left)} left`
}

function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const LINE_MS = 2_000

/** Says a line every two seconds, also where nobody watches a terminal. */
export function createTellProgress({ say }: { say: (line: string) => void }): (line: string) => void {
  let toldAt = performance.now()
  return (line) => {
    const now = performance.now()
    if (now - toldAt < LINE_MS) return
    toldAt = now
    say(`… ${line}`)
  }
}
