// A card with an emblem, for pages with a single message: those of recipients, of lapsed links and of errors.

import type { Children } from './html.ts'
import type { IconName } from './icon-files.ts'
import { Icon } from './icons.tsx'

type CardProps = { icon: IconName; tone?: 'gone' | 'bad'; children: Children }

export function EmblemCard({ icon, tone, children }: CardProps) {
  return (
    <div class="card">
      <p class={tone === undefined ? 'emblem' : `emblem ${tone}`}>
        <Icon name={icon} />
      </p>
      {children}
    </div>
  )
}
