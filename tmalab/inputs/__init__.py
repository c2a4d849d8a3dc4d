"""Input forms of the checker: each module reads one kind of text into fields and their places; no numpy is loaded.

    json_input   cpp_call   tvm_call   triton_call   cutlass_dump   tilelang_dump   flags   cute_layout   array_spec
         └──────────┴──────────┴──────────┴── detect.read_text ──┴────────────┴───────────┴───────────┘
                       dump_rows ── byte_dump ── encoded_bytes ──┘

>>> from tmalab.inputs.detect import FORM_NAMES
>>> FORM_NAMES
('json', 'tilelang', 'cutlass', 'encoded', 'tvm', 'cpp', 'triton', 'flags', 'cute', 'array')
"""
