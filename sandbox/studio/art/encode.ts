import sharp from 'sharp';
import type { Sharp } from 'sharp';

import type { ImageFormat } from '../types/studio.ts';
import type { PaintedImage } from './painted-image.ts';

const PREVIEW_EDGE = 256;

/** The image as a file, with its prompt and seed in XMP (which, unlike EXIF, holds every script). */
export async function encodeImage(
  { canvas, seed }: PaintedImage,
  { prompt, format }: { readonly prompt: string; readonly format: ImageFormat },
): Promise<Buffer> {
  const pixels = readPixels(canvas).withXmp(xmp(prompt, seed));
  return formatted(pixels, format).toBuffer();
}

/** A small blurred WebP of the image. */
export async function encodePreview({ canvas }: PaintedImage): Promise<Buffer> {
  return readPixels(canvas)
    .resize(PREVIEW_EDGE, PREVIEW_EDGE, { fit: 'inside' })
    .blur(4)
    .webp({ quality: 60 })
    .toBuffer();
}

function readPixels(canvas: PaintedImage['canvas']): Sharp {
  const { width, height } = canvas;
  return sharp(canvas.data(), { raw: { width, height, channels: 4 } }).removeAlpha();
}

function formatted(pixels: Sharp, format: ImageFormat): Sharp {
  if (format === 'jpeg') return pixels.jpeg({ quality: 88 });
  if (format === 'webp') return pixels.webp({ quality: 85, effort: 2 });
  return pixels.png({ compressionLevel: 6 });
}

function xmp(prompt: string, seed: number): string {
  return `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:kiln="urn:kiln:studio:1#" xmp:CreatorTool="Kiln studio" kiln:engine="local-procedural" kiln:seed="${seed}">
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">${escapeXml(prompt)}</rdf:li></rdf:Alt></dc:description>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&apos;',
};

/** An XMP block has to fit into one JPEG segment of 64 kB. */
const MAX_PROMPT = 8_000;

function escapeXml(text: string): string {
  // Control characters are not allowed in XML at all, escaped or not.
  const clean = text
    .slice(0, MAX_PROMPT)
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed();
  return clean.replaceAll(/[<>&"']/g, (sign) => ENTITIES[sign] ?? sign);
}
