// What an operator can do about a backup that was not made.

import type { FailureCode } from './task.ts'

/** In English, for the log, /readyz and the doctor. */
export function adviceFor(code: FailureCode, folder: string): string {
  const again = 'It is tried again by itself.'
  const advice: Record<FailureCode, string> = {
    missing: `Mount the disk of ${folder}, or make the folder. ${again}`,
    full: `Make room there, give it a larger disk, or lower --backup-keep. ${again}`,
    read_only: `Mount the disk of ${folder} for writing, and check it. ${again}`,
    denied: `Let the user of the server write to ${folder}. ${again}`,
    stalled: `Check the disk or the network that ${folder} is on. ${again}`,
    ended: `See the log of the system for what ended it, such as too little memory. ${again}`,
    data: `"oncebox doctor" looks at the data folder. ${again}`,
    other: again,
  }
  return advice[code]
}
