// Turns of a process that serves alone: there is no other node to wait for.

import type { TurnStore } from '../shared-face.ts'

export const memoryTurns: TurnStore = { inTurn: (_, work) => work(false) }
