"""What libraries' functions do: tables by full name, read from the longest prefix that is known."""

from collections.abc import Iterator, Mapping
from functools import cache

from autogen_nb.core.analysis import found_effects, method_effects
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, EffectKind

COMPUTES = frozenset(
    """
numpy.testing pandas.testing __future__ abc argparse array ast base64 binascii bisect calendar cmath collections
colorsys contextlib copy csv
dataclasses datetime decimal difflib email enum errno fnmatch fractions functools gc getopt glob graphlib hashlib
heapq hmac
html io ipaddress itertools json keyword locale logging math numbers operator pathlib pathlib.Path pathlib.PurePath
platform pprint queue random re
reprlib sched secrets stat statistics string struct textwrap threading time timeit token tokenize traceback
tracemalloc types typing unicodedata uuid warnings weakref xml zlib zoneinfo os.path configparser tomllib pickle
inspect dis
typing_extensions this memory concurrent.futures asyncio urllib.parse http.HTTPStatus contextvars numba
numpy pandas polars matplotlib seaborn scipy sklearn statsmodels plotly altair bokeh holoviews hvplot networkx sympy
xgboost lightgbm catboost torch torchvision tensorflow keras jax PIL cv2 skimage imageio openpyxl xlsxwriter xlrd
pyarrow yaml
toml geopandas shapely folium prophet pmdarima arch pingouin lifelines umap hdbscan imblearn category_encoders optuna
shap
tqdm tabulate IPython.display IPython.core.display ipywidgets dask xarray h5py netCDF4 joblib bs4 lxml markdown jinja2
pydantic
attr attrs rich termcolor colorama cycler dateutil pytz pytz_deprecation_shim cftime patsy linearmodels pyod mlxtend
mpl_toolkits missingno squarify wordcloud textblob gensim nltk spacy sentence_transformers transformers datasets
psutil humanize
unidecode chardet charset_normalizer regex simplejson orjson ujson sqlalchemy sqlite3 duckdb zipfile tarfile gzip bz2
lzma tempfile shutil codecs more_itertools toolz cytoolz boltons pyproj rtree rasterio fiona contextily vega_datasets
pandera great_tables itables adjustText venn upsetplot ruptures tslearn sktime stumpy filterpy control mpmath gmpy2
uncertainties
pint astropy Bio rdkit simpy pulp ortools cvxpy deap pygal mplfinance ta pandas_ta quantstats wcwidth
builtins.print builtins.len builtins.sorted builtins.sum builtins.max builtins.min
""".split()
)
"""Libraries that compute, but for what the other tables and the names of methods say."""

DEFAULTS: Mapping[str, str] = {
    name: kind
    for kind, names in {
        "network": """requests httpx aiohttp urllib.request urllib3 urllib.robotparser http.client http.server
            http.cookiejar             socket socketserver ssl smtplib smtpd ftplib
            telnetlib imaplib poplib nntplib xmlrpc paramiko fabric boto3 botocore s3fs gcsfs adlfs fsspec smart_open
            google azure websocket websockets grpc pika kafka redis pymongo psycopg psycopg2 pymysql MySQLdb mysql
            cx_Oracle oracledb pyodbc asyncpg snowflake clickhouse_driver elasticsearch openai anthropic yfinance
            pandas_datareader kaggle gdown wget selenium playwright mechanize feedparser wikipedia praw tweepy gspread
            huggingface_hub wandb mlflow pandas_gbq bigquery webbrowser aiofiles.os asyncssh dns scapy pyftpdlib wbgapi
            fredapi nasdaqdatalink quandl alpha_vantage polygon ccxt geopy osmnx trafilatura newspaper scrapy
            sklearn.datasets.fetch_openml kagglehub requests_html requests_cache pycurl multiprocessing.managers
            multiprocessing.connection logging.handlers.SMTPHandler logging.handlers.HTTPHandler
            logging.handlers.SocketHandler logging.handlers.DatagramHandler logging.handlers.SysLogHandler
            asyncio.open_connection asyncio.start_server asyncio.open_unix_connection nltk.download torch.hub
            pyarrow.fs.S3FileSystem pyarrow.fs.GcsFileSystem pyarrow.fs.HadoopFileSystem pyarrow.fs.FileSystem
            tensorflow.keras.datasets keras.datasets tensorflow.keras.utils.get_file keras.utils.get_file
            tensorflow_datasets transformers.pipeline datasets.load_dataset seaborn.load_dataset
            seaborn.get_dataset_names scipy.datasets statsmodels.api.datasets.get_rdataset sklearn.datasets.fetch
            statsmodels.datasets.get_rdataset torchvision.datasets spacy.cli shap.datasets contextily gensim.downloader
            sentence_transformers.SentenceTransformer pooch pandas.read_gbq
            pandas.io.gbq skimage.data.download_all nltk.downloader""",
        "process": """subprocess pty multiprocessing pexpect sh plumbum invoke asyncio.create_subprocess_exec
            asyncio.create_subprocess_shell asyncio.subprocess concurrent.futures.ProcessPoolExecutor joblib.Parallel
            concurrent.futures.process dask.distributed ray pyspark psutil.Popen psutil.Process.kill
            psutil.Process.terminate psutil.Process.suspend torch.multiprocessing popen2 commands signal timeit.main
            IPython.embed _posixsubprocess
            code codeop pdb bdb cProfile.main trace docker podman pm2 crontab""",
        "install": "pip ensurepip venv virtualenv setuptools distutils conda mamba piplite micropip pkg_resources",
        "environment": """os.environ os.environb os.getenv os.getenvb os.putenv os.unsetenv os.chdir os.fchdir os.chroot
            os.umask             os.setuid os.setgid os.seteuid os.setegid os.setpriority os.nice
            dotenv decouple environs site sys.path
            sys.modules sys.meta_path sys.path_hooks sys.settrace sys.setprofile sys.addaudithook sys._getframe
            sys.displayhook sys.excepthook builtins getpass keyring resource fcntl winreg atexit sys.path_importer_cache
            threading.settrace threading.setprofile gc.get_objects gc.get_referrers gc.get_referents faulthandler
            sysconfig os.path.expandvars""",
        "unknown": """importlib pkgutil runpy ctypes cffi marshal dill cloudpickle shelve imp zipimport linecache
            inspect.currentframe inspect.stack inspect.getframeinfo inspect.trace types.FunctionType types.CodeType
            types.LambdaType operator.attrgetter operator.methodcaller IPython mmap pickle.load pickle.loads
            pickle.Unpickler _pickle pickletools joblib.load torch.load yaml.load yaml.unsafe_load yaml.full_load
            yaml.load_all
            pandas.read_pickle numpy.ctypeslib numpy.f2py numba.cfunc get_ipython breakpoint globals locals vars
            getattr setattr delattr memoryview eval exec compile __import__ keras.models.load_model
            tensorflow.keras.models.load_model
            sklearn.externals numpy.testing.measure numpy.testing.rundocs numpy.testing.runstring
            typing.get_type_hints typing.ForwardRef string.Formatter logging.config posix nt _io _socket os
            sys urllib http concurrent tarfile.main pathlib._local threading._os inspect.os ast.sys
            torch.utils.cpp_extension
            torch.ops torch.classes jsonpickle.decode matplotlib.font_manager.json_load scipy.weave sympy.parsing
            tensorflow.io.gfile tensorflow.py_function pydoc doctest test unittest antigravity idlelib lib2to3 tkinter
            turtle
            help sympy.sympify sympy.lambdify sympy.utilities.autowrap""",
    }.items()
    for name in names.split()
}
"""What the use of a library, or of a part of it, is by itself."""

_PLAIN = frozenset(
    """
os.name os.sep os.linesep os.altsep os.pathsep os.curdir os.pardir os.extsep os.devnull os.getcwd os.getcwdb
os.cpu_count
os.getpid os.getppid os.fspath os.PathLike os.times os.urandom os.stat os.stat_result os.access os.R_OK os.W_OK
os.F_OK os.X_OK
os.uname os.get_terminal_size os.getloadavg os.lstat os.error os.fsencode os.fsdecode os.DirEntry os.path.getsize
os.process_cpu_count os.sched_getaffinity os.isatty os.strerror os.walk os.listdir os.scandir
sys.version sys.version_info sys.argv sys.executable sys.stdout sys.stderr sys.stdin sys.platform sys.maxsize
sys.getsizeof sys.setrecursionlimit sys.getrecursionlimit sys.byteorder sys.float_info sys.int_info sys.exc_info
sys.exit
sys.getrefcount sys.intern sys.implementation sys.hexversion sys.prefix sys.getdefaultencoding sys.maxunicode
sys.flags sys.builtin_module_names sys.stdlib_module_names sys.stdout.write sys.stdout.flush sys.stderr.write
sys.stderr.flush
sys.stdout.encoding sys.float_repr_style sys.hash_info sys.thread_info sys.copyright sys.getswitchinterval
importlib.metadata.version importlib.util.find_spec importlib.metadata.PackageNotFoundError importlib.metadata
importlib.util
inspect.signature inspect.getdoc inspect.isfunction
multiprocessing.cpu_count urllib.parse urllib.error urllib.error.URLError urllib.error.HTTPError getpass.getuser
requests.exceptions requests.RequestException requests.exceptions.RequestException requests.HTTPError
requests.ConnectionError requests.Timeout httpx.HTTPError
socket.error socket.timeout subprocess.CalledProcessError subprocess.TimeoutExpired subprocess.PIPE subprocess.DEVNULL
subprocess.STDOUT http.HTTPStatus concurrent.futures pickle.dumps pickle.HIGHEST_PROTOCOL pickle.PickleError pickle.dump
pickle.Pickler pickle.UnpicklingError pickle.DEFAULT_PROTOCOL pickle.PicklingError
IPython.display IPython.core.display IPython.version_info
IPython.core.interactiveshell.InteractiveShell.ast_node_interactivity
IPython.core.interactiveshell.InteractiveShell
botocore.exceptions botocore.exceptions.ClientError site.ENABLE_USER_SITE resource.getrusage resource.RUSAGE_SELF
ssl.OPENSSL_VERSION torch.utils shutil.which shutil.get_terminal_size shutil.disk_usage tempfile.gettempdir
ctypes.sizeof sqlalchemy.text sqlalchemy.inspect sqlite3.Row sqlite3.Error sqlite3.OperationalError sqlite3.version
nltk.tokenize nltk.corpus sys.setswitchinterval sys.getfilesystemencoding unittest.mock signal.SIGINT
platform.system os.path
""".split()
)
"""Parts of such libraries that only compute, or look."""

_FILES = """
read 0: io.open_code glob.glob glob.iglob sklearn.datasets.load_files sklearn.datasets.load_svmlight_file
 configparser.ConfigParser.read configparser.RawConfigParser.read pyarrow.fs.LocalFileSystem.open_input_stream
 os.listdir os.scandir os.walk os.readlink numpy.load numpy.loadtxt numpy.genfromtxt numpy.fromfile
numpy.fromregex
 matplotlib.pyplot.imread matplotlib.image.imread PIL.Image.open cv2.imread cv2.VideoCapture skimage.io.imread
 imageio.imread imageio.v3.imread
 imageio.v2.imread imageio.get_reader scipy.io.loadmat scipy.io.wavfile.read scipy.io.mmread scipy.sparse.load_npz
 openpyxl.load_workbook xlrd.open_workbook pyarrow.parquet.read_table pyarrow.parquet.ParquetFile
 pyarrow.parquet.read_schema
 pyarrow.parquet.read_metadata pyarrow.parquet.ParquetDataset
 pyarrow.csv.read_csv pyarrow.csv.open_csv pyarrow.feather.read_table pyarrow.feather.read_feather
 pyarrow.dataset.dataset
 pyarrow.json.read_json pyarrow.orc.read_table pyarrow.orc.ORCFile pyarrow.memory_map pyarrow.input_stream
 duckdb.read_csv duckdb.read_parquet duckdb.read_json duckdb.from_csv_auto duckdb.from_parquet duckdb.read_csv_auto
 xarray.open_dataset xarray.open_dataarray xarray.open_zarr xarray.open_mfdataset
 geopandas.read_file geopandas.read_parquet xml.etree.ElementTree.parse lxml.etree.parse lxml.html.parse
 pandas.ExcelFile matplotlib.font_manager.FontProperties torchvision.io.read_image rasterio.open fiona.open
 zipfile.is_zipfile
 json5.load tomllib.load dask.dataframe.read_csv gensim.models.KeyedVectors.load_word2vec_format
 matplotlib.rc_file matplotlib.rc_context.fname numpy.DataSource soundfile.read librosa.load torchaudio.load
 plotly.io.read_json bokeh.io.curdoc importlib.resources.read_text gensim.models.Word2Vec.load Bio.SeqIO.parse
 statsmodels.iolib.smpickle.load_pickle
write 0: os.mkdir os.makedirs os.chmod os.chown os.truncate os.utime os.mkfifo os.mknod os.lchown os.open os.fdopen
os.write os.ftruncate
 os.mkdirs shutil.chown zipfile.ZipFile.extractall
 numpy.save numpy.savetxt numpy.savez numpy.savez_compressed numpy.memmap matplotlib.pyplot.savefig
 matplotlib.pyplot.imsave
 matplotlib.image.imsave cv2.imwrite cv2.VideoWriter skimage.io.imsave imageio.imwrite imageio.imsave imageio.mimsave
 imageio.v3.imwrite
 imageio.v2.imwrite imageio.v2.mimsave imageio.get_writer scipy.io.savemat scipy.io.wavfile.write scipy.io.mmwrite
 scipy.sparse.save_npz pyarrow.parquet.ParquetWriter pyarrow.csv.CSVWriter pyarrow.OSFile pyarrow.output_stream
 pandas.ExcelWriter pandas.HDFStore xlsxwriter.Workbook matplotlib.backends.backend_pdf.PdfPages
 bokeh.plotting.output_file bokeh.io.output_file bokeh.plotting.save shutil.make_archive logging.FileHandler
 logging.handlers.RotatingFileHandler logging.handlers.TimedRotatingFileHandler torch.utils.tensorboard.SummaryWriter
 joblib.Memory sqlite3.Connection.backup plotly.offline.plot sympy.preview soundfile.write
 tempfile.mkdtemp tempfile.mkstemp tempfile.TemporaryDirectory tempfile.NamedTemporaryFile tempfile.TemporaryFile
 tempfile.SpooledTemporaryFile tempfile.mktemp
write 1: os.symlink os.link shutil.copy shutil.copyfile shutil.copy2 shutil.copytree shutil.copymode shutil.copystat
 shutil.unpack_archive joblib.dump torch.save pyarrow.parquet.write_table pyarrow.csv.write_csv
 pyarrow.feather.write_feather
 pyarrow.dataset.write_dataset pyarrow.orc.write_table pyarrow.parquet.write_to_dataset pyarrow.parquet.write_metadata
 plotly.io.write_html
 plotly.io.write_image plotly.io.write_json urllib.request.urlretrieve.filename
delete 0: os.remove os.unlink os.rmdir os.removedirs os.rename os.renames os.replace shutil.rmtree shutil.move
 send2trash.send2trash
process 0: os.system os.popen os.execv os.execve os.execvp os.execl os.execle os.execlp os.execlpe os.execvpe
 os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe os.posix_spawn
 os.posix_spawnp os.startfile
 os.fork os.forkpty os.kill os.killpg os.abort os._exit os.pidfd_open os.setsid os.openpty
"""

OTHER_FILES = {
    **dict.fromkeys(
        "shutil.copy shutil.copyfile shutil.copy2 shutil.copytree shutil.copymode shutil.copystat "
        "shutil.unpack_archive os.symlink os.link".split(),
        ("read", 0),
    ),
    **dict.fromkeys("os.rename os.renames os.replace shutil.move".split(), ("write", 1)),
}
"""What a function of `files` does to a second file that it names, in the same form."""


@cache
def files() -> dict[str, tuple[str, int]]:
    """What a function does to the file, or with the command, that one of its arguments names: (kind, place)."""
    table: dict[str, tuple[str, int]] = {}
    kind, place = "", 0
    for word in _FILES.split():
        if word in ("read", "write", "delete", "process"):
            kind = word
        elif word.rstrip(":").isdigit():
            place = int(word.rstrip(":"))
        else:
            table[word] = (kind, place)
    return table


def plain(name: str) -> str:
    """The name without the marks of what was called and indexed on the way."""
    return name.replace("()", "").replace("[]", "")


@cache
def default(name: str) -> str:
    """What the use of a full name is where nothing more exact is known of it; "" for what is in no table."""
    parts = plain(name).split(".")
    for length in range(len(parts), 0, -1):
        prefix = ".".join(parts[:length])
        if prefix in files() and length < len(parts):
            # What it gives back.
            return "compute"
        if prefix in _PLAIN:
            return "compute"
        if prefix in DEFAULTS:
            return DEFAULTS[prefix]
        if prefix in COMPUTES:
            return "compute"
    return ""


KINDS = frozenset({"network", "process", "install", "environment", "unknown"})
"""What the use of a library may be by itself."""

_SPECIAL = {
    "os.environ": "uses environment variables",
    "os.getenv": "uses environment variables",
    "os.chdir": "changes the working folder",
    "sys.path": "changes or reads where Python imports from",
    "sys.modules": "changes or reads what Python has imported",
    "pickle.load": "unpickles, which can run code",
    "pickle.loads": "unpickles, which can run code",
    "joblib.load": "unpickles, which can run code",
    "torch.load": "unpickles, which can run code",
    "pandas.read_pickle": "unpickles, which can run code",
}
_WORDS = {
    "network": "uses the network: {}",
    "process": "starts programs: {}",
    "install": "installs packages: {}",
    "environment": "changes or reads the environment: {}",
    "unknown": "uses {}",
}


def effects(kind: str, name: str, target: str = "") -> Iterator[Effect]:
    """The use of a library, or of a part of it, that is more than computing."""
    words = next((words for part, words in _SPECIAL.items() if f"{name}.".startswith(f"{part}.")), "")
    words = words or _WORDS[kind].format(found_effects.shown(name))
    for known_kind in _IN_ORDER:
        if known_kind == kind:
            yield Effect(known_kind, target, f"{words}: {found_effects.shown(target)}" if target else words)


_IN_ORDER: tuple[EffectKind, ...] = ("network", "process", "install", "environment", "unknown")


def exact(name: str) -> bool:
    """Whether the tables name just this."""
    return name in files() or name in _PLAIN or name in DEFAULTS


def known(name: str) -> bool:
    """Whether the tables name this, or something in it."""
    return plain(name) in _named()


def hidden(name: str) -> str:
    """The first part of a full name that leads into a library's works; "" where none does."""
    parts = name.split(".")
    for length in range(2, len(parts) + 1):
        if method_effects.internal(parts[length - 1]) and not known(".".join(parts[:length])):
            return parts[length - 1]
    return ""


@cache
def _named() -> frozenset[str]:
    names = (*files(), *_PLAIN, *COMPUTES, *DEFAULTS)
    return frozenset(".".join(name.split(".")[:length]) for name in names for length in range(1, name.count(".") + 2))


def internal(name: str) -> tuple[Effect, ...]:
    """What reaching into the works of a library, or of Python itself, is."""
    return found_effects.unknown(f"reaches into .{name}")


def handed_on(kind: str, scope: PathScope, name: str) -> tuple[Effect, ...]:
    """What a function is that is handed on, or called by another name: it may be called with anything."""
    if kind == "read":
        return found_effects.reads(None, scope)
    if kind == "write":
        return found_effects.writes(None, scope)
    if kind == "delete":
        return found_effects.deletes(None, scope)
    return found_effects.runs(None) if kind == "process" else tuple(effects(kind, name))
