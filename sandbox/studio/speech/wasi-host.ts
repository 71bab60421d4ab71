import { createFileCalls, createMachine, SUCCESS } from './wasi-files.ts';
import type { Machine, MemoryFile, SystemCalls } from './wasi-files.ts';

/**
 * The little of an operating system that Flite asks for: arguments, one folder in memory, an exit. No disk, no network
 * and a clock that stands still, so the same text always gives the same sound.
 */

// Only a browser's types know WebAssembly; this is what is used of it here.
declare global {
  namespace WebAssembly {
    interface Module {
      readonly [Symbol.toStringTag]: string;
    }
    interface Instance {
      readonly exports: Readonly<Record<string, unknown>>;
    }
    function compile(code: Uint8Array): Promise<Module>;
    function instantiate(
      module: Module,
      imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
    ): Promise<Instance>;
  }
}

/** What a program left behind. */
export interface WasiOutcome {
  readonly exitCode: number;
  /** Standard output and standard error. */
  readonly output: string;
  /** Files it wrote, by name, in the folder `/o`. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

class ProgramExit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`the program ended with ${code}`);
    this.name = 'ProgramExit';
    this.code = code;
  }
}

const MAX_OUTPUT_CHARACTERS = 1_000_000;

/** Runs a WASI program to its end. */
export async function runWasi(
  program: WebAssembly.Module,
  programArguments: readonly string[],
): Promise<WasiOutcome> {
  const files = new Map<string, MemoryFile>();
  const output: string[] = [];
  const machine = createMachine();
  // Some values come as bigint (times, offsets); those that matter are made numbers where they are used.
  const imports = {
    ...processCalls(machine, programArguments),
    ...createFileCalls(machine, files, output),
  };
  const instance = await WebAssembly.instantiate(program, { wasi_snapshot_preview1: imports });
  machine.memory = instance.exports['memory'] as Machine['memory'];
  let exitCode = 0;
  try {
    (instance.exports['_start'] as () => void)();
  } catch (error) {
    if (!(error instanceof ProgramExit)) throw error;
    exitCode = error.code;
  }
  const written = [...files].map(([name, { data, length }]) => [name, data.slice(0, length)] as const);
  return { exitCode, output: output.join('').slice(0, MAX_OUTPUT_CHARACTERS), files: new Map(written) };
}

function processCalls(machine: Machine, programArguments: readonly string[]): SystemCalls {
  const encoded = programArguments.map((argument) => new TextEncoder().encode(`${argument}\0`));
  return {
    args_sizes_get(countAt = 0, bytesAt = 0) {
      machine.view().setUint32(countAt, encoded.length, true);
      const total = encoded.reduce((sum, argument) => sum + argument.length, 0);
      machine.view().setUint32(bytesAt, total, true);
      return SUCCESS;
    },
    args_get(pointersAt = 0, bytesAt = 0) {
      let at = bytesAt;
      for (const [index, argument] of encoded.entries()) {
        machine.view().setUint32(pointersAt + 4 * index, at, true);
        machine.bytes().set(argument, at);
        at += argument.length;
      }
      return SUCCESS;
    },
    clock_time_get(_clock = 0, _precision = 0, timeAt = 0) {
      machine.view().setBigUint64(timeAt, 0n, true);
      return SUCCESS;
    },
    proc_exit(code = 0) {
      throw new ProgramExit(code);
    },
  };
}
