import exifr from 'exifr';

import { unescapeXml } from '../people/xml.ts';

const LONGEST_QUOTE = 500;

/** What a file says about itself in XMP, EXIF or IPTC; null when it says nothing that can be read. */
export async function ownDescription(picture: Uint8Array, xmp: Buffer | undefined): Promise<string | null> {
  return (
    quote(xmp === undefined ? null : descriptionInXmp(xmp.toString('utf8'))) ?? quote(await inExif(picture))
  );
}

async function inExif(picture: Uint8Array): Promise<unknown> {
  try {
    // oxlint-disable-next-line import/no-named-as-default-member -- CommonJS behind its types: there is no named export
    const facts: unknown = await exifr.parse(picture, { iptc: true, tiff: true, mergeOutput: true });
    const { ImageDescription, Caption } = (facts ?? {}) as Record<string, unknown>;
    return ImageDescription ?? Caption;
  } catch {
    return null; // a format that exifr does not know (WebP) or broken metadata: the picture itself is fine
  }
}

const DESCRIPTION = /<dc:description>\s*<rdf:Alt>\s*<rdf:li[^>]*>([^<]*)<\/rdf:li>/;

function descriptionInXmp(xmp: string): string | null {
  const escaped = DESCRIPTION.exec(xmp)?.[1];
  return escaped === undefined ? null : unescapeXml(escaped);
}

function quote(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, LONGEST_QUOTE) : null;
}
