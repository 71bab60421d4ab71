import { t } from '../../../../text/text.ts';

/** What was painted on a mask, step by step, so that the last step can be taken back. */
export type PaintStep =
  | {
      readonly kind: 'line';
      readonly points: { readonly x: number; readonly y: number }[];
      /** Pixels of the mask. */
      readonly width: number;
      readonly isErasing: boolean;
    }
  | { readonly kind: 'invert' };

/** Longest side of a mask; larger images get a smaller one, which is scaled. */
const MOST_SIDE = 2_048;
/** What is painted shows in this colour. */
const SHOWN = '#ff2d6f';

/** The size of the mask for an image of this size. */
export function maskSize(width: number, height: number): { readonly width: number; readonly height: number } {
  const scale = Math.min(1, MOST_SIDE / Math.max(width, height));
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}

/** Draws all of it again, over the mask that was there before. */
export function paintAll(
  canvas: HTMLCanvasElement,
  base: CanvasImageSource | null,
  steps: readonly PaintStep[],
): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.globalCompositeOperation = 'source-over';
  context.clearRect(0, 0, canvas.width, canvas.height);
  if (base !== null) context.drawImage(base, 0, 0, canvas.width, canvas.height);
  for (const step of steps) paint(context, step);
}

function paint(context: CanvasRenderingContext2D, step: PaintStep): void {
  const { width, height } = context.canvas;
  context.fillStyle = SHOWN;
  context.strokeStyle = SHOWN;
  if (step.kind === 'invert') {
    context.globalCompositeOperation = 'xor';
    context.fillRect(0, 0, width, height);
    return;
  }
  context.globalCompositeOperation = step.isErasing ? 'destination-out' : 'source-over';
  context.lineWidth = step.width;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  context.beginPath();
  const [first] = step.points;
  if (first !== undefined) context.moveTo(first.x, first.y);
  for (const { x, y } of step.points) context.lineTo(x, y);
  context.stroke();
}

/** The mask as the API takes it: white where something is painted, else black. */
export async function maskFile(painted: HTMLCanvasElement): Promise<File> {
  const { width, height } = painted;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error(t('problem.noCanvas'));
  context.drawImage(painted, 0, 0);
  context.globalCompositeOperation = 'source-in';
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.globalCompositeOperation = 'destination-over';
  context.fillStyle = '#000';
  context.fillRect(0, 0, width, height);
  return new File([await canvas.convertToBlob({ type: 'image/png' })], 'mask.png', { type: 'image/png' });
}

/** A mask of before as something to paint on: its white in our colour, its black transparent. */
export async function readMask(url: string): Promise<OffscreenCanvas> {
  const bitmap = await createImageBitmap(await (await fetch(url)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error(t('problem.noCanvas'));
  context.drawImage(bitmap, 0, 0);
  const image = context.getImageData(0, 0, bitmap.width, bitmap.height);
  for (let at = 0; at < image.data.length; at += 4) image.data[at + 3] = image.data[at] ?? 0;
  context.putImageData(image, 0, 0);
  context.globalCompositeOperation = 'source-in';
  context.fillStyle = SHOWN;
  context.fillRect(0, 0, bitmap.width, bitmap.height);
  return canvas;
}
