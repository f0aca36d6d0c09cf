// The places that a move begins and ends at, as its command line names them.

import { resolve } from 'node:path'
import { presentDatabaseAddress } from '../../domain/database-address.ts'
import { readMachine } from '../../store/folder/machine.ts'
import type { MovingPlace } from '../../store/moving/ends.ts'
import { folderPlace } from '../../store/opening/moving/folder-place.ts'
import { postgresPlace } from '../../store/opening/moving/postgres-place.ts'
import type { Remembering } from '../../store/opening/remembering.ts'
import type { MovePlace, MovePorts, MoveWish } from './wish.ts'

/** A move that was asked for, with the places where it begins and ends. */
export type AskedMove = { wish: MoveWish; ports: MovePorts; from: MovingPlace; to: MovingPlace }

export function nameOf(place: MovePlace): string {
  return place.kind === 'folder' ? resolve(place.path) : presentDatabaseAddress(place.address)
}

type PlaceOptions = { remembering: Remembering; onWarning: (warning: string) => void }

export function placeOf(place: MovePlace, { remembering, onWarning }: PlaceOptions): MovingPlace {
  return place.kind === 'folder'
    ? folderPlace({ path: place.path, machine: readMachine(process.platform), onWarning })
    : postgresPlace({ address: place.address, remembering, onWarning })
}
