// The name and look of the pages.

import { brandColor, plainText } from '../brand-parsers.ts'
import { path } from '../parsers.ts'
import type { Table } from '../setting.ts'

const group = 'Name and look'

export const brandSettings = {
  brandName: {
    flag: 'brand-name',
    group,
    placeholder: 'text',
    parse: plainText(40),
    default: 'Oncebox',
    help: 'Name on every page and in its title, such as the name of your organisation',
  },
  brandLogo: {
    flag: 'brand-logo',
    group,
    placeholder: 'file',
    parse: path,
    default: null,
    defaultWords: 'the mark of Oncebox',
    help: 'Logo beside the name: PNG, SVG, JPEG or WebP of at most 256 KiB, read at the start',
  },
  brandColor: {
    flag: 'brand-color',
    group,
    placeholder: 'colour',
    parse: brandColor,
    default: null,
    defaultWords: '#24539b',
    help: 'Colour of buttons and links, such as #24539b; refused if it is hard to read, lightened for dark pages',
  },
  contact: {
    flag: 'contact',
    group,
    placeholder: 'text',
    parse: plainText(200),
    default: null,
    help: 'Whom to ask, shown to recipients and where a link no longer works, such as "IT, help@once.example"',
  },
  notice: {
    flag: 'notice',
    group,
    placeholder: 'text',
    parse: plainText(300),
    default: null,
    help: 'Announcement at the top of every page, such as "Maintenance on Saturday from 8 to 9"',
  },
} satisfies Table
