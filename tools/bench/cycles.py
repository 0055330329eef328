#!/usr/bin/env python3
"""Says where the cycles of the CPU engine's inner loops go, by llvm-mca: what one weight costs on
processors that need not be here, and which of their ports limits it.

    tools/bench/cycles.py [BUILD-FOLDER]     (default: build, as meson has set it up on x86-64)

Needs gcc, that for aarch64, and llvm-mca (Debian: llvm-19 or later), which assumes that all loads
hit the first cache and that all branches are foreseen. Names of ports say whose model it took:
llvm-22 has that of Zen 4 for znver5."""
import json
import re
import shlex
import shutil
import subprocess
import sys

# Set: its kernels, each with the weights that one pass of its longest inner loop computes, and the
# processors that run it.
INTEL = ['haswell', 'skylake', 'alderlake', 'sapphirerapids']
AMD = ['znver3', 'znver4', 'znver5']
WIDE = ['icelake-server', 'sapphirerapids', 'znver4', 'znver5']
SETS = {
    'avx2': ([('fixed_pair_rows', 64)], INTEL + AMD),
    'avx512': ([('fixed_pair_rows', 128)], WIDE),
    'vnni': ([('table_pair_rows', 128)], WIDE),
    'fp16': ([('half_pair_rows', 128)], ['sapphirerapids']),
    'neon': ([('fixed_pair_rows', 32)], ['cortex-a76', 'neoverse-n1']),
}


def find_mca():
    for version in range(40, 18, -1):
        if shutil.which(f'llvm-mca-{version}'):
            return f'llvm-mca-{version}'
    sys.exit('cycles.py: there is no llvm-mca: install llvm-19 or later')


def assembly(folder, name):
    """What the compiler makes of rows_NAME.c by this build's flags. NEON's gets those of rows_c.c."""
    own = 'c' if name == 'neon' else name
    with open(f'{folder}/compile_commands.json', encoding='utf-8') as f:
        c = next(c for c in json.load(f) if c['file'].endswith(f'/rows_{own}.c'))
    flags = [w for w in shlex.split(c['command']) if re.match(r'-([IDmf]|O|std)', w)]
    gcc = 'aarch64-linux-gnu-gcc' if name == 'neon' else 'gcc'
    done = subprocess.run([gcc, *flags, '-S', '-o', '-',
                           c['file'].replace(f'rows_{own}.c', f'rows_{name}.c')],
                          cwd=c['directory'], text=True, capture_output=True, check=True)
    return done.stdout


def longest_loop(text, function, comment):
    """The longest loop of a function that has no other jump inside."""
    body = re.search(rf'^{function}(?:\.\w+)*:\n(.*?)^\s*\.size\s+{function}', text, re.M | re.S)
    if not body:
        sys.exit(f'cycles.py: there is no function {function}')
    lines = [line.split(comment)[0].strip() if not line.lstrip().startswith('#') else ''
             for line in body.group(1).splitlines()]
    label, loops, jumps = {}, [], []
    for i, line in enumerate(lines):
        if re.fullmatch(r'[.\w]+:', line):
            label[line[:-1]] = i
        jump = re.match(r'(?:j\w+|b\w*(?:\.\w+)?|cbn?z\s+\w+,|tbn?z\s+\w+,.*,)\s+(\.L\w+)$', line)
        if jump:
            jumps.append(i)
        if jump and jump.group(1) in label:
            loops.append((label[jump.group(1)], i))
    inner = [(first, last) for first, last in loops if not any(first <= i < last for i in jumps)]
    first, last = max(inner, key=lambda loop: loop[1] - loop[0])
    return [x for x in lines[first:last + 1] if x and not x.startswith('.')]


def measure(mca, cpu, loop):
    """Cycles of one pass and the busiest port, or None where this llvm-mca does not know the
    processor."""
    arch = 'aarch64' if cpu[0] in 'cn' else 'x86-64'
    done = subprocess.run([mca, f'-march={arch}', f'-mcpu={cpu}', '-iterations=200'], text=True,
                          input='\n'.join(loop) + '\n', capture_output=True, check=False)
    cycles = re.search(r'Total Cycles:\s+(\d+)', done.stdout)
    if not cycles and 'is not a recognized processor' in done.stderr:
        return None
    if not cycles:
        sys.exit(f'cycles.py: {mca} for {cpu}: {done.stderr}')
    names = dict(re.findall(r'^\[([\d.]+)\]\s+- (\S+)', done.stdout, re.M))
    table = re.search(r'Resource pressure per iteration:\n(.*)\n(.*)\n', done.stdout)
    load = zip(re.findall(r'\[([\d.]+)\]', table.group(1)), table.group(2).split())
    port, most = max(((names[n], float(v)) for n, v in load if v != '-'), key=lambda x: x[1])
    return int(cycles.group(1)) / 200, port, most


def main():
    mca, folder = find_mca(), sys.argv[1] if len(sys.argv) > 1 else 'build'
    print('| set | loop | processor | instructions | cycles | weights | cycles for 64 weights |'
          ' busiest port | its cycles |')
    print('| --- | --- | --- | --- | --- | --- | --- | --- | --- |')
    for name, (kernels, cpus) in SETS.items():
        text = assembly(folder, name)
        for function, weights in kernels:
            loop = longest_loop(text, function, '//' if name == 'neon' else '#')
            count = sum(1 for x in loop if not x.endswith(':'))
            for cpu in cpus:
                found = measure(mca, cpu, loop)
                if found:
                    cycles, port, most = found
                    print(f'| {name} | {function} | {cpu} | {count} | {cycles:.1f} | {weights} | '
                          f'{cycles * 64 / weights:.1f} | {port} | {most:.1f} |')


main()
