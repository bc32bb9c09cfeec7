"""What a name is taken for that the block does not bind: the builtins, and what an earlier block usually bound.

An import under any other name is asked about where it is made, since later blocks cannot be judged by it.
"""

BUILTINS = frozenset(
    "open exec eval compile __import__ getattr setattr delattr globals locals vars dir input breakpoint exit quit help "
    "get_ipython memoryview str sorted list tuple set dict reversed enumerate zip range iter next print map filter "
    "type super object len isinstance".split()
)

_USUAL = """
np numpy, pd pandas, pl polars, plt matplotlib.pyplot, mpl matplotlib, sns seaborn, sp scipy, sm statsmodels.api,
smf statsmodels.formula.api, px plotly.express, go plotly.graph_objects, pio plotly.io, alt altair, tf tensorflow,
nx networkx, nn torch.nn, F torch.nn.functional, xgb xgboost, lgb lightgbm, gpd geopandas, xr xarray, dd dask.dataframe,
pa pyarrow, pq pyarrow.parquet, pc pyarrow.compute, ds pyarrow.dataset, dt datetime, mp multiprocessing, cv2 cv2,
ET xml.etree.ElementTree, Path pathlib.Path, plotly plotly, sa sqlalchemy, yf yfinance, pdr pandas_datareader,
datetime datetime, mdates matplotlib.dates, mticker matplotlib.ticker, ticker matplotlib.ticker, mpatches
matplotlib.patches,
patches matplotlib.patches, ops operator, op operator, da dask.array, jnp jax.numpy, ff plotly.figure_factory,
tsa statsmodels.tsa.api, st scipy.stats, stats scipy.stats, cm matplotlib.cm, T torchvision.transforms, th torch,
urlopen urllib.request.urlopen, urlretrieve urllib.request.urlretrieve, Popen subprocess.Popen, rmtree shutil.rmtree,
BeautifulSoup bs4.BeautifulSoup, ProcessPoolExecutor concurrent.futures.ProcessPoolExecutor,
 session requests.Session(), sess requests.Session(), s3 boto3.client(),
ssh paramiko.SSHClient(), ftp ftplib.FTP(), smtp smtplib.SMTP(), sock socket.socket(), http httpx, sso ssl, k keras,
pickle pickle, joblib joblib, dill dill, wget wget, pool multiprocessing.Pool(), fs fsspec.filesystem(),
sqlite3 sqlite3, duckdb duckdb, sqlalchemy sqlalchemy, create_engine sqlalchemy.create_engine, display
IPython.display.display
"""
_MODULES = """
os sys subprocess shutil ctypes builtins importlib multiprocessing threading socket pathlib tempfile glob urllib http
requests httpx aiohttp ssl codecs inspect linecache runpy asyncio concurrent marshal shelve zipfile tarfile gzip bz2
lzma
logging webbrowser ftplib smtplib posix nt IPython pty io csv json math re random collections itertools functools
statistics numpy pandas polars scipy matplotlib seaborn sklearn statsmodels boto3 s3fs fsspec gcsfs paramiko psutil
torch
tensorflow keras transformers datasets nltk spacy platform time warnings types gc signal yaml pyarrow openpyxl psycopg2
pymysql telnetlib imaplib poplib xmlrpc fabric sh pexpect cloudpickle fcntl mmap resource site code operator string
textwrap
decimal fractions typing dataclasses enum copy uuid hashlib base64 secrets getpass winreg atexit pip ensurepip venv
""".split()

_PAIRS = (each.split() for each in _USUAL.split(","))

ALIASES: dict[str, str] = {name: name for name in _MODULES} | {pair[0]: pair[1] for pair in _PAIRS}
"""What a name usually stands for."""
