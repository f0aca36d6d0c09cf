// Chips: a state in a word or two, in the colour of its meaning.

import type { ComponentChildren } from 'preact'
import type { IconName } from './icon-files.ts'
import { Icon } from './icons.tsx'

export type Tone = 'good' | 'waiting' | 'low' | 'gone' | 'bad'

/** A state in a word or two. */
export function Chip({ tone, icon, children }: { tone: Tone; icon?: IconName; children: ComponentChildren }) {
  return (
    <span class={`chip ${tone}`}>
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </span>
  )
}
