// The progress of a long command on a terminal, and the message when the user cancels it.

import { formatSize } from './format.ts'

type Progress = { update: (done: number, total: number | null) => void; stop: () => void }

/** Exit codes as in shells: 128 plus the number of the signal. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

/** Creates a function that starts a progress bar. `cancelled` returns the message for SIGINT and SIGTERM. */
export function createStartProgress(stream: NodeJS.WriteStream) {
  return (label: string, cancelled: () => string): Progress => {
    const bar = stream.isTTY ? createBar(stream, label) : null
    const giveUp = (signal: keyof typeof EXIT_CODES) => {
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

const DRAW_MS = 100
const CLEAR = '\r\x1b[K'

/** Draws nothing in the first 100 ms, so a short transfer shows no bar. */
function createBar(stream: NodeJS.WriteStream, label: string): Progress {
  const begun = performance.now()
  let drawnAt = begun
  return {
    update: (done, total) => {
      const now = performance.now()
      if (now - drawnAt < DRAW_MS) return
      drawnAt = now
      const line = `${label} ${format(done, total, (now - begun) / 1000)}`
      stream.write(`${CLEAR}${line.slice(0, (stream.columns || 80) - 1)}`)
    },
    stop: () => {
      if (drawnAt > begun) stream.write(CLEAR)
    },
  }
}

const BAR_CELLS = 24

function format(done: number, total: number | null, seconds: number): string {
  const speed = `${formatSize(done / seconds)}/s`
  if (!total) return `${formatSize(done)}, ${speed}`
  const part = Math.min(1, done / total)
  const bar = '█'.repeat(Math.round(part * BAR_CELLS)).padEnd(BAR_CELLS, '░')
  const left = done > 0 ? Math.ceil(((1 - part) * seconds) / part) : 0
  return `${bar} ${Math.floor(part * 100)} % of ${formatSize(total)}, ${speed}, ${formatSeconds(left)} left`
}

function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const LINE_MS = 2_000

/** Throttles progress messages to one line every two seconds, with or without a terminal. */
export function createTellProgress({ say }: { say: (line: string) => void }): (line: string) => void {
  let toldAt = performance.now()
  return (line) => {
    const now = performance.now()
    if (now - toldAt < LINE_MS) return
    toldAt = now
    say(`… ${line}`)
  }
}
