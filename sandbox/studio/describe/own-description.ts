import readExif from 'exif-reader';

import { unescapeXml } from '../people/xml.ts';

const LONGEST_QUOTE = 500;

/** The raw metadata blocks of a picture, as sharp gives them. */
interface Metadata {
  readonly xmp?: Buffer | undefined;
  readonly exif?: Buffer | undefined;
  readonly iptc?: Buffer | undefined;
}

/** A file's own description in XMP, EXIF or IPTC; null when there is none. */
export function ownDescription({ xmp, exif, iptc }: Metadata): string | null {
  return (
    quote(xmp && descriptionInXmp(xmp.toString('utf8'))) ??
    quote(exif && descriptionInExif(exif)) ??
    quote(iptc && captionInIptc(iptc))
  );
}

const DESCRIPTION = /<dc:description>\s*<rdf:Alt>\s*<rdf:li[^>]*>([^<]*)<\/rdf:li>/;

function descriptionInXmp(xmp: string): string | null {
  const escaped = DESCRIPTION.exec(xmp)?.[1];
  return escaped === undefined ? null : unescapeXml(escaped);
}

function descriptionInExif(exif: Buffer): string | null {
  try {
    const description: unknown = readExif(exif).Image?.ImageDescription;
    // exif-reader returns text with bytes beyond ASCII as a buffer.
    if (Buffer.isBuffer(description)) return description.toString('utf8');
    return typeof description === 'string' ? description : null;
  } catch {
    return null; // broken metadata
  }
}

/** Record 2, data set 120: its marker, two bytes of length, the text. */
const IPTC_CAPTION = Buffer.from([0x1c, 2, 120]);

function captionInIptc(iptc: Buffer): string | null {
  const at = iptc.indexOf(IPTC_CAPTION);
  if (at === -1 || at + 5 > iptc.length) return null;
  return iptc.toString('utf8', at + 5, at + 5 + iptc.readUInt16BE(at + 3));
}

function quote(value: string | null | undefined): string | null {
  const text = (value ?? '').trim();
  return text === '' ? null : text.slice(0, LONGEST_QUOTE);
}
