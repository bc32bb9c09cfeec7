"""What a method does, judged by its name alone where it is not known whose it is."""

import re
from typing import Literal, TypeAlias

Effect: TypeAlias = Literal["read", "write", "delete", "network", "process", "unknown", "sql", ""]

_TEXTUAL = frozenset("csv json html markdown latex string xml parquet dict_list".split())
_WRITERS = frozenset(
    "csv excel parquet pickle hdf sql json feather stata orc xml html latex markdown string clipboard gbq zarr netcdf "
    "file postgis disk deltalake delta iceberg text textfiles avro ipc image arrow_file mbtiles".split()
)
_WRITES = frozenset(
    "open_output_stream open_append_stream mkdir makedirs touch symlink_to hardlink_to link_to chmod lchmod "
    "write_text write_bytes memmap open_memmap "
    "tofile imsave imwrite "
    "ExcelWriter HDFStore PdfPages DataSource save savefig savetxt savez savez_compressed savemat save_model save_npz "
    "save_weights save_binary save_word2vec_format save_pretrained save_to_disk dump json_dump extractall "
    "copy_file "
    "copyfile copytree output_file imwrite_ serialize truncate copy_into move_into saveas save_as".split()
)
_WRITING = ("write", "sink_", "save_", "export", "dump_")
_PRINTS = frozenset(f"print_{form}" for form in "png figure jpg jpeg pdf svg ps eps tif tiff raw rgba webp".split())
_READS = frozenset(
    "read_csv read_table read_fwf read_excel read_parquet read_json read_feather read_orc read_stata read_sas "
    "read_spss read_ipc "
    "read_ndjson read_avro read_xml read_html read_hdf read_file read_delta read_ods read_clipboard read_ipc_stream "
    "read_text read_bytes loadtxt genfromtxt fromfile fromregex imread rc_file loadmat load_workbook open_workbook "
    "open_dataset "
    "open_dataarray open_zarr read_image read_gml read_graphml read_edgelist read_adjlist read_gexf".split()
)
_READING = ("read_", "scan_")
_DELETES = frozenset(
    "delete_file delete_dir delete_dir_contents unlink rmdir rmtree remove_file rename_file delete_object "
    "delete_objects delete_blob removedirs".split()
)
_NETWORK = frozenset(
    "urlopen urlretrieve upload_file upload_fileobj download_file download_fileobj put_object get_object list_objects "
    "list_objects_v2 upload_blob upload_from_filename download_to_filename download_as_string sendmail send_message "
    "from_pretrained push_to_hub retrbinary storbinary exec_command open_sftp ws_connect to_gbq read_gbq "
    "create_connection "
    "sendto recvfrom starttls send_raw upload download get_rdataset download_button_ pull_from_hub".split()
)
_PROCESS = frozenset(
    "subprocess_exec subprocess_shell system popen Popen check_output check_call getoutput getstatusoutput "
    "spawn execv run_command".split()
)
_RUNS = frozenset(
    "load_extension enable_load_extension read_pickle load_module exec_module run_line_magic run_cell_magic "
    "run_cell ex".split()
)
_SQL = frozenset(
    "read_database read_database_uri execute executemany executescript read_sql read_sql_query read_sql_table "
    "sql exec_driver_sql from_query".split()
)
_INTERNALS = frozenset(
    """tb_frame f_back f_builtins f_globals f_locals f_code gi_frame gi_code cr_frame cr_code ag_frame os sys
subprocess shutil ctypes builtins importlib multiprocessing socket posix nt pty ctypeslib common compat
core f2py distutils show_versions lib testing cbook exec getattr setattr delattr globals get_field get_type_hints
ForwardRef Formatter attrgetter methodcaller Path PosixPath SQLContext webdoc from_custom_template singledispatch
codecs inspect
linecache runpy pathlib urllib requests webbrowser marshal shelve tempfile pickle""".split()
)
"""What libraries let be reached through themselves."""

_ATTRIBUTES = frozenset(
    """_asdict _replace _fields _make _get_numeric_data _repr_html_ _field_defaults __name__ __version__ __doc__
__init__ __len__ __repr__ __str__ __eq__ __post_init__ __class__ __next__ __iter__ __getitem__ __contains__ __enter__
__exit__ __add__ __mul__ __lt__ __hash__ __call__ __qualname__ __members__ __annotations__
__dataclass_fields__ __abs__""".split()
)
_FILE_NAME = re.compile(r".*[\w)\]]\.[A-Za-z][A-Za-z0-9]{0,6}|.*/[^/ ]+|~.*")


def effect(name: str) -> Effect:
    """What a method of this name does, whosever it is; "" for one that computes."""
    if name in _RUNS:
        return "unknown"
    if name in _SQL:
        return "sql"
    if name in _NETWORK or name.startswith(("fetch_", "download")):
        return "network"
    if name in _PROCESS:
        return "process"
    if name in _DELETES:
        return "delete"
    if name in _WRITES or name in _PRINTS or name.startswith(_WRITING) or name.removeprefix("to_") in _to_writers(name):
        return "write"
    if name in _READS or name.startswith(_READING):
        return "read"
    return "network" if name == "load_dataset" else ""


def textual(name: str) -> bool:
    """Whether the method gives a text back where it is told of no file."""
    return name.removeprefix("to_") in _TEXTUAL or name.removeprefix("write_") in _TEXTUAL or name == "write_ndjson"


def internal(name: str) -> bool:
    """Whether an attribute of this name leads into what a library, or Python itself, works with."""
    if name in _ATTRIBUTES:
        return False
    return name in _INTERNALS or (name.startswith("_") and name != "_")


def file_like(text: str) -> bool:
    """Whether a text looks like a file's name."""
    return "\n" not in text and _FILE_NAME.fullmatch(text) is not None


def _to_writers(name: str) -> frozenset[str]:
    return _WRITERS if name.startswith("to_") else frozenset()
