import readExif from 'exif-reader';
import sharp from 'sharp';

import { unescapeXml } from '../people/xml.ts';
import { UnreadableImage, type Description } from '../types/studio.ts';
import { measure } from './measure.ts';
import { findPalette } from './palette.ts';
import { writeCaption, writePrompts } from './words.ts';

/** Most pixels that are decoded. */
const MAX_PIXELS = 50_000_000;
const SMALL_EDGE = 160;

/**
 * Describes an image by measurements: size, colours, light, detail. Nothing is recognized; the file's own description is
 * quoted. Throws UnreadableImage.
 */
export async function describeImage(content: Uint8Array): Promise<Description> {
  const { width, height, format, small, metadata } = await read(content);
  const own = ownDescription(metadata);
  const palette = findPalette(small.data);
  const facts = { width, height, format, palette, measures: measure(small), ownDescription: own };
  return {
    prompts: writePrompts(facts),
    caption: `${writeCaption(facts)}.`,
    note:
      own === null ? 'measured only: objects and people are not recognised' : `the file itself says: ${own}`,
    width,
    height,
    format,
    palette: palette.map(({ name, hex, share }) => ({ name, hex, share: Math.round(share * 1_000) / 1_000 })),
  };
}

async function read(content: Uint8Array) {
  try {
    const image = sharp(content, { limitInputPixels: MAX_PIXELS, failOn: 'error' });
    const metadata = await image.metadata();
    const { autoOrient, format } = metadata;
    const { data, info } = await image
      .autoOrient()
      .resize(SMALL_EDGE, SMALL_EDGE, { fit: 'inside' })
      .flatten({ background: '#fff' })
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true });
    const small = { data: threeChannels(data, info.channels), width: info.width, height: info.height };
    return { width: autoOrient.width, height: autoOrient.height, format, small, metadata };
  } catch (error) {
    throw new UnreadableImage(error);
  }
}

function threeChannels(data: Uint8Array, channels: number): Uint8Array {
  if (channels === 3) return data;
  const pixels = Math.floor(data.length / channels);
  const at = (index: number) => Math.floor(index / 3) * channels + (channels < 3 ? 0 : index % 3);
  return Uint8Array.from({ length: pixels * 3 }, (_value, index) => data[at(index)] ?? 0);
}

const LONGEST_QUOTE = 500;

/** The raw metadata blocks of an image, as sharp gives them. */
interface Metadata {
  readonly xmp?: Buffer | undefined;
  readonly exif?: Buffer | undefined;
  readonly iptc?: Buffer | undefined;
}

/** A file's own description in XMP, EXIF or IPTC; null when there is none. */
function ownDescription({ xmp, exif, iptc }: Metadata): string | null {
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
