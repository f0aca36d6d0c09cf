// How far an upload or a download is: one line that is drawn again and again, on a terminal only.

import { Presets, SingleBar } from 'cli-progress'
import { formatSize } from './format.ts'

export type Progress = { update: (done: number, total: number | null) => void; stop: () => void }

/** `cancelled` is said when the person gives up meanwhile. */
export type StartProgress = (label: string, cancelled: string) => Progress

const SILENT: Progress = { update: () => undefined, stop: () => undefined }
const INTERRUPTED = 130
const BAR_CELLS = 24

export function createStartProgress(stream: NodeJS.WriteStream): StartProgress {
  return (label, cancelled) => (stream.isTTY ? drawOn(stream, { label, cancelled }) : SILENT)
}

/** Starts with the first bytes, so that what is over at once draws nothing. */
function drawOn(
  stream: NodeJS.WriteStream,
  { label, cancelled }: { label: string; cancelled: string },
): Progress {
  const options = { stream, format, hideCursor: true, clearOnComplete: true }
  const bar = new SingleBar(options, Presets.shades_classic)
  // The cursor and the wrapping of lines come back with the bar's end.
  const giveUp = () => {
    bar.stop()
    stream.write(`oncebox: ${cancelled}\n`, () => process.exit(INTERRUPTED))
  }
  let started = false
  return {
    update: (done, total) => {
      if (started) return bar.update(done)
      started = true
      process.once('SIGINT', giveUp)
      bar.start(total ?? done, done, { label })
    },
    stop: () => {
      process.off('SIGINT', giveUp)
      bar.stop()
    },
  }
}

type State = { progress: number; value: number; total: number; startTime: number }

function format(_: unknown, state: State, { label }: { label: string }): string {
  const { progress, value, total, startTime } = state
  const seconds = Math.max(0.001, (performance.timeOrigin + performance.now() - startTime) / 1000)
  const cells = Math.round(Math.min(1, progress) * BAR_CELLS)
  const bar = '█'.repeat(cells).padEnd(BAR_CELLS, '░')
  const speed = `${formatSize(value / seconds)}/s`
  const left = value > 0 ? Math.ceil(((total - value) * seconds) / value) : 0
  return `${label} ${bar} ${Math.floor(progress * 100)} % of ${formatSize(total)}, ${speed}, ${formatSeconds(left)} left`
}

function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
