// A choice among a few: radio buttons styled as chips.

import type { Children } from '../../frame/html.ts'

export type ChoiceOption = { id: string; value: string; label: Children; isChosen: boolean }

type ChoiceProps = {
  legend: string
  name: string
  picks: ChoiceOption[]
  children?: Children
}

/** A group of chips. `children` follow it, such as the fields in `.exact` for a value that no chip has. */
export function Choice({ legend, name, picks, children }: ChoiceProps) {
  return (
    <fieldset class="choice">
      <legend>{legend}</legend>
      <div class="picks">
        {picks.map(({ id, value, label, isChosen }) => (
          <label class="pick">
            <input type="radio" id={id} name={name} value={value} checked={isChosen} />
            {label}
          </label>
        ))}
      </div>
      {children}
    </fieldset>
  )
}
