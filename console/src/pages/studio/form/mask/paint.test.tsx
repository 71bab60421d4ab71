import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { drawn, StandInCanvas, stubCanvases } from '../../../../testing/canvas.ts';
import { maskFile, maskSize, paintAll, type PaintStep, readMask } from './paint.ts';

beforeEach(stubCanvases);
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it('a mask is as large as its image, up to a side', () => {
  expect([maskSize(100, 50), maskSize(4_096, 1_024), maskSize(1_000, 3_001)]).toEqual([
    { width: 100, height: 50 },
    { width: 2_048, height: 512 },
    { width: 682, height: 2_048 },
  ]);
});

it('a mask is white where something is painted, and read back in the colour of the brush', async () => {
  const painted = document.createElement('canvas');
  Object.assign(painted, { width: 4, height: 2 });
  const file = await maskFile(painted);
  expect([file.name, file.type, drawn]).toMatchInlineSnapshot(`
    [
      "mask.png",
      "image/png",
      [
        "drawImage(painted 0 0)",
        "globalCompositeOperation = source-in",
        "fillStyle = #fff",
        "fillRect(0 0 4 2)",
        "globalCompositeOperation = destination-over",
        "fillStyle = #000",
        "fillRect(0 0 4 2)",
      ],
    ]
  `);
  drawn.length = 0;
  await readMask('/m.png');
  expect(drawn).toMatchInlineSnapshot(`
    [
      "drawImage(image 0 0)",
      "getImageData(0 0 2 1)",
      "putImageData(255,1,2,255,0,3,4,0 0 0)",
      "globalCompositeOperation = source-in",
      "fillStyle = #ff2d6f",
      "fillRect(0 0 2 1)",
    ]
  `);
  const line: PaintStep = { kind: 'line', points: [], width: 3, isErasing: false };
  drawn.length = 0;
  paintAll(painted, null, [line]);
  expect(drawn[1]).toBe('clearRect(0 0 4 2)');
  expect(drawn.slice(-5)).toEqual([
    'lineWidth = 3',
    'lineCap = round',
    'lineJoin = round',
    'beginPath()',
    'stroke()',
  ]);
});

it('nothing is painted where there is nothing to paint on', async () => {
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
  vi.stubGlobal(
    'OffscreenCanvas',
    class extends StandInCanvas {
      override getContext = () => null;
    },
  );
  const painted = document.createElement('canvas');
  paintAll(painted, null, [{ kind: 'invert' }]);
  expect(drawn).toEqual([]);
  await expect(maskFile(painted)).rejects.toThrow('This browser cannot draw here');
  await expect(readMask('/m.png')).rejects.toThrow('This browser cannot draw here');
});
